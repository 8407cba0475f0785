import { createHash } from 'node:crypto';
import { ownCopy } from '../xdr/own-copy.ts';
import type { BufferPool } from './buffer-pool.ts';

/** What an entry takes beside its reply. */
const ENTRY_BYTES = 400;
/** The head of a request says what it is; beyond lies data. */
const SUMMED_BYTES = 4096;

interface Entry {
  reply: Promise<Buffer>;
  bytes: number;
  /** Asked for more than once. */
  isShared: boolean;
}

/**
 * Replies to requests that must not be done twice. A client whose connection broke sends its requests again, with the
 * same number and the same bytes; it then gets the reply of the first one, also if that is still under way.
 */
export class ReplayCache {
  readonly #entriesMax: number;
  readonly #bytesMax: number;
  readonly #buffers: BufferPool | undefined;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(entriesMax: number, bytesMax: number, buffers?: BufferPool) {
    this.#entriesMax = entriesMax;
    this.#bytesMax = bytesMax;
    this.#buffers = buffers;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Ports differ after a reconnect, so an address is all that is known of a client; the sum tells its programs apart. */
  static key(address: string, request: Buffer): string {
    const sum = createHash('sha1').update(request.subarray(0, SUMMED_BYTES));
    return `${address} ${request.length} ${sum.digest('base64')}`;
  }

  /** The reply to the same request, made before or now. What failed, or need not be kept, is forgotten afterwards. */
  async run(key: string, answer: () => Promise<Buffer>, keep: () => boolean = () => true): Promise<Buffer> {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.isShared = true;
      return known.reply;
    }
    const reply = answer();
    const entry: Entry = { reply, bytes: ENTRY_BYTES, isShared: false };
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    this.#evict();
    try {
      const bytes = await reply;
      const isKept = keep();
      // The connection that has sent it must not reuse its memory.
      if (entry.isShared) this.#buffers?.detach(bytes);
      if (this.#entries.get(key) !== entry) return bytes;
      if (!isKept) {
        this.#drop(key, entry);
        return bytes;
      }
      entry.reply = Promise.resolve(ownCopy(bytes));
      entry.bytes += bytes.length;
      this.#bytes += bytes.length;
      this.#evict();
      return bytes;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#drop(key, entry);
      throw error;
    }
  }

  #evict(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= this.#entriesMax && this.#bytes <= this.#bytesMax) return;
      this.#drop(key, entry);
    }
  }

  #drop(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}

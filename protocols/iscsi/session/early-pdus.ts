import { ProtocolError } from '../pdu/receiver.ts';

const HEADER_BYTES = 48;

export interface HeldPdu {
  readonly header: Buffer;
  readonly data: Buffer;
}

/** PDUs that came before one that must be carried out first, by their number. */
export class EarlyPdus {
  readonly #held = new Map<number, HeldPdu>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Keeps copies; of two with the same number the first counts. */
  hold(number: number, header: Buffer, data: Buffer): void {
    if (this.#held.has(number)) return;
    const bytes = HEADER_BYTES + data.length;
    if (this.#bytes + bytes > this.#bytesMax) {
      throw new ProtocolError(`more than ${this.#bytesMax} bytes came ahead of a command that is missing`);
    }
    this.#bytes += bytes;
    this.#held.set(number, { header: Buffer.from(header.subarray(0, HEADER_BYTES)), data: Buffer.from(data) });
  }

  dequeue(number: number): HeldPdu | undefined {
    const held = this.#held.get(number);
    if (held === undefined) return undefined;
    this.#held.delete(number);
    this.#bytes -= HEADER_BYTES + held.data.length;
    return held;
  }

  clear(): void {
    this.#held.clear();
    this.#bytes = 0;
  }
}

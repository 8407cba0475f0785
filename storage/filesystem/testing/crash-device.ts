import type { BlockDevice } from '../../block-device.ts';
import { FaultyDrive } from '../../drive/faulty-drive.ts';
import { MemoryDrive } from '../../drive/testing/memory-drive.ts';
import { StorageError } from '../../errors.ts';
import { BLOCK_BYTES, type Done } from '../../units.ts';
import { MemoryDevice } from './memory-device.ts';

/**
 * A device whose power is cut at a certain write or flush: of the unflushed sectors any subset is on the medium
 * afterwards. Discarded ranges are overwritten, so that a wrong discard is noticed.
 */
export class CrashDevice implements BlockDevice {
  readonly readOnly = false;
  readonly #drive: FaultyDrive;
  readonly #bytes: Buffer;
  #cutAt: number;
  /** Writes and flushes so far. */
  requests = 0;

  /** Begins with the bytes of another device. */
  constructor({ bytes }: MemoryDevice, random?: () => number) {
    const memory = new MemoryDrive('memory', bytes.length, random);
    bytes.copy(memory.bytes);
    this.#bytes = memory.bytes;
    this.#drive = new FaultyDrive(memory);
    this.#cutAt = Infinity;
  }

  get sizeBytes(): number {
    return this.#drive.sizeBytes;
  }

  get isCut(): boolean {
    return this.requests >= this.#cutAt;
  }

  /** The request with this number, counted from now on, is not executed, and none after it. */
  cutAt(request: number): void {
    this.#drive.loseUnflushed();
    this.requests = 0;
    this.#cutAt = request;
  }

  /** The device after a restart. */
  async afterwards(random: () => number): Promise<MemoryDevice> {
    await this.#drive.powerCut(random);
    return new MemoryDevice(Buffer.from(this.#bytes));
  }

  read(offset: number, into: Buffer): Done {
    this.#refuse();
    return this.#drive.read(offset, into);
  }

  write(offset: number, from: Buffer): Done {
    this.requests += 1;
    this.#refuse();
    return this.#drive.write(offset, from);
  }

  async flush(): Promise<void> {
    this.requests += 1;
    this.#refuse();
    await this.#drive.flush();
    this.#refuse();
  }

  async discard(offset: number, length: number): Promise<void> {
    this.#refuse();
    const garbage = Buffer.alloc(BLOCK_BYTES, 0xdd);
    for (let at = 0; at < length; at += BLOCK_BYTES) await this.#drive.write(offset + at, garbage);
  }

  mapped(_offset: number, length: number): { length: number; mapped: boolean }[] {
    return [{ length, mapped: true }];
  }

  #refuse(): void {
    if (this.isCut) throw new StorageError('drive-failed', 'The power is cut.');
  }
}

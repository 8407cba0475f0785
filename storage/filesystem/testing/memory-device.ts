import type { BlockDevice } from '../../block-device.ts';
import { StorageError } from '../../errors.ts';
import type { Done } from '../../units.ts';

/**
 * A device in memory. With `random` some requests complete a turn later. It can be made to refuse writes, or to grow.
 */
export class MemoryDevice implements BlockDevice {
  bytes: Buffer;
  readonly readOnly: boolean;
  readonly #random: (() => number) | undefined;
  /** Bytes that can still be written; then the pool underneath is full. */
  roomBytes = Infinity;
  /** Reads are refused. */
  isBroken = false;
  flushes = 0;
  writtenBytes = 0;
  readonly discards: { offset: number; length: number }[] = [];

  constructor(bytes: number | Buffer, options: { random?: () => number; readOnly?: boolean } = {}) {
    this.bytes = typeof bytes === 'number' ? Buffer.alloc(bytes) : bytes;
    this.#random = options.random;
    this.readOnly = options.readOnly ?? false;
  }

  get sizeBytes(): number {
    return this.bytes.length;
  }

  grow(sizeBytes: number): void {
    this.bytes = Buffer.concat([this.bytes], sizeBytes);
  }

  read(offset: number, into: Buffer): Done {
    this.#check(offset, into.length);
    if (this.isBroken) throw new StorageError('unreadable', 'The device is broken.');
    return this.#sometimesLater(() => void this.bytes.copy(into, 0, offset, offset + into.length));
  }

  write(offset: number, from: Buffer): Done {
    this.#check(offset, from.length);
    if (this.readOnly) throw new StorageError('read-only', 'a snapshot');
    if (from.length > this.roomBytes) throw new StorageError('pool-full', 'The pool is full.');
    this.roomBytes -= from.length;
    this.writtenBytes += from.length;
    return this.#sometimesLater(() => void from.copy(this.bytes, offset));
  }

  async flush(): Promise<void> {
    this.flushes += 1;
    await Promise.resolve();
  }

  /** Discarded ranges have undefined contents. */
  discard(offset: number, length: number): Done {
    this.#check(offset, length);
    this.discards.push({ offset, length });
    return this.#sometimesLater(() => void this.bytes.fill(0xdd, offset, offset + length));
  }

  mapped(_offset: number, length: number): { length: number; mapped: boolean }[] {
    return [{ length, mapped: true }];
  }

  #sometimesLater(work: () => void): Done {
    if (this.#random !== undefined && this.#random() < 0.5) {
      return new Promise((resolve) => {
        setImmediate(() => {
          work();
          resolve();
        });
      });
    }
    work();
    return undefined;
  }

  #check(offset: number, length: number): void {
    const isWhole = offset % 512 === 0 && length % 512 === 0;
    if (isWhole && offset >= 0 && offset + length <= this.bytes.length) return;
    throw new StorageError('invalid', `${length} bytes at ${offset} are not whole sectors of the device`);
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { StorageError } from '../../errors.ts';
import type { Done } from '../../units.ts';
import type { Drive, DriveStatistics } from '../drive.ts';
import { DriveMeter } from '../drive-meter.ts';

const DISCARDED = 0xdd;

/** A drive in memory. With `random` it answers synchronously or one turn later, at random, to vary the interleaving. */
export class MemoryDrive implements Drive {
  readonly id: string;
  readonly sizeBytes: number;
  readonly bytes: Buffer;
  readonly #meter = new DriveMeter();
  readonly #random: (() => number) | undefined;

  constructor(id: string, sizeBytes: number, random?: () => number) {
    this.id = id;
    this.sizeBytes = sizeBytes;
    this.bytes = Buffer.alloc(sizeBytes);
    this.#random = random;
  }

  read(offset: number, into: Buffer): Done {
    this.#check(offset, into.length);
    this.#meter.reads.add(into.length, 0);
    if (this.#random !== undefined && this.#random() < 0.5) {
      return nextTurn().then(() => {
        this.bytes.copy(into, 0, offset, offset + into.length);
      });
    }
    this.bytes.copy(into, 0, offset, offset + into.length);
    return undefined;
  }

  write(offset: number, from: Buffer): Done {
    this.#check(offset, from.length);
    this.#meter.writes.add(from.length, 0);
    if (this.#random !== undefined && this.#random() < 0.5) {
      return nextTurn().then(() => {
        from.copy(this.bytes, offset);
      });
    }
    from.copy(this.bytes, offset);
    return undefined;
  }

  async writeDurably(offset: number, from: Buffer): Promise<void> {
    await this.write(offset, from);
  }

  async flush(): Promise<void> {
    this.#meter.flushes.add(0, 0);
    if (this.#random !== undefined && this.#random() < 0.5) await nextTurn();
  }

  /** The content afterwards is undefined. */
  discard(offset: number, length: number): Promise<void> {
    this.#check(offset, length);
    this.bytes.fill(DISCARDED, offset, offset + length);
    this.#meter.discards.add(length, 0);
    return Promise.resolve();
  }

  statistics(): DriveStatistics {
    return this.#meter.snapshot();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #check(offset: number, length: number): void {
    if (offset >= 0 && offset + length <= this.sizeBytes) return;
    throw new StorageError('invalid', `Bytes ${offset} to ${offset + length} are not on drive ${this.id}.`);
  }
}

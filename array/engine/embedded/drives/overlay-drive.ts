import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { BLOCK_BYTES, type Drive, type DriveStatistics, StorageError } from '@granary/storage';
import type { EngineDriveSetup } from '../setup.ts';

const none = { count: 0, bytes: 0, errors: 0, microseconds: 0, microsecondsMax: 0 };

/** A drive's file to look at: what is written to it stays in memory and is gone with it. */
export class OverlayDrive implements Drive {
  readonly id: string;
  readonly sizeBytes: number;
  readonly #fd: number;
  readonly #written = new Map<number, Buffer>();

  /** A file that a kill has left shorter, in the middle of a discard, is looked at as if it had its length. */
  constructor({ id, file, sizeBytes }: EngineDriveSetup) {
    this.id = id;
    this.#fd = openSync(file, constants.O_RDONLY);
    const size = Math.max(fstatSync(this.#fd).size, sizeBytes);
    this.sizeBytes = size - (size % BLOCK_BYTES);
  }

  read(offset: number, into: Buffer): undefined {
    if (offset + into.length > this.sizeBytes)
      throw new StorageError('drive-failed', `Drive ${this.id} ends before ${offset + into.length}.`);
    for (let at = 0; at < into.length;) {
      const count = readSync(this.#fd, into, at, into.length - at, offset + at);
      if (count === 0) into.fill(0, at);
      at = count === 0 ? into.length : at + count;
    }
    if (this.#written.size === 0) return;
    for (let at = 0; at < into.length; at += BLOCK_BYTES) this.#written.get(offset + at)?.copy(into, at);
  }

  write(offset: number, from: Buffer): undefined {
    for (let at = 0; at < from.length; at += BLOCK_BYTES) {
      this.#written.set(offset + at, Buffer.from(from.subarray(at, at + BLOCK_BYTES)));
    }
  }

  writeDurably(offset: number, from: Buffer): Promise<void> {
    this.write(offset, from);
    return Promise.resolve();
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  discard(): Promise<void> {
    return Promise.resolve();
  }

  statistics(): DriveStatistics {
    return { reads: none, writes: none, flushes: none, discards: none };
  }

  /** Groups close their drives; this one is shut by who opened it. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  shut(): void {
    closeSync(this.#fd);
  }
}

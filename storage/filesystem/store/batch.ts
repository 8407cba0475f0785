import { Key } from './key.ts';
import type { DataCheck } from './data-checks.ts';
import type { Run } from './space-map-page.ts';

/** The kinds of records. */
const PUT = 1;
const DELETE = 2;
const ALLOCATE = 3;
const FREE = 4;
const CHECK = 5;

const KEY_BYTES = 16;
const RUN_BYTES = 12;
const CHECK_BYTES = RUN_BYTES + 4;
/** With more blocks than this, the data is flushed first. */
const CHECKED_BLOCKS_MAX = 256;
const INITIAL_BYTES = 16 * 1024;

/** The header of the batch, which the journal fills in. */
export const BATCH_HEADER_BYTES = 64;

/** Applies each record of a replay. Values are views: valid during the call. */
export interface RecordHandler {
  put?(key: Key, value: Buffer): void | Promise<void>;
  delete?(key: Key): void | Promise<void>;
  allocate?(run: Run): void | Promise<void>;
  free?(run: Run): void | Promise<void>;
  check?(check: DataCheck): void;
}

/** The records of one commit, encoded as they are made. */
export class Batch {
  bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  length = BATCH_HEADER_BYTES;
  /** Records refer to blocks that were written just before: their data has to be durable first. */
  namesData = false;
  /** Contents of blocks that records refer to, verified by their checksums if this is the last batch after a crash. */
  readonly checks: DataCheck[] = [];
  /** Written even without records. */
  isForced = false;
  /** Blocks that are free once this batch is durable. */
  readonly retired: Run[] = [];

  readonly #key = new Key();

  get isEmpty(): boolean {
    return this.length === BATCH_HEADER_BYTES;
  }

  check(check: DataCheck): void {
    this.checks.push(check);
    if (this.checks.reduce((sum, { count }) => sum + count, 0) > CHECKED_BLOCKS_MAX) this.namesData = true;
  }

  /** No further records are added. */
  finish(): void {
    if (this.namesData) this.checks.length = 0;
    for (const check of this.checks) {
      const at = this.#begin(CHECK, CHECK_BYTES);
      this.#writeRun(at, check);
      this.bytes.writeUInt32LE(check.sum, at + RUN_BYTES);
    }
  }

  put(inode: number, kind: number, offset: number, value: Buffer): void {
    const at = this.#begin(PUT, KEY_BYTES + 2 + value.length);
    this.#writeKey(at, inode, kind, offset);
    this.bytes.writeUInt16LE(value.length, at + KEY_BYTES);
    value.copy(this.bytes, at + KEY_BYTES + 2);
  }

  delete(inode: number, kind: number, offset: number): void {
    this.#writeKey(this.#begin(DELETE, KEY_BYTES), inode, kind, offset);
  }

  allocate(run: Run): void {
    this.#writeRun(this.#begin(ALLOCATE, RUN_BYTES), run);
  }

  free(run: Run): void {
    this.#writeRun(this.#begin(FREE, RUN_BYTES), run);
  }

  #writeKey(at: number, inode: number, kind: number, offset: number): void {
    const { a, b, c, d } = this.#key.set(inode, kind, offset);
    this.bytes.writeUInt32LE(a, at);
    this.bytes.writeUInt32LE(b, at + 4);
    this.bytes.writeUInt32LE(c, at + 8);
    this.bytes.writeUInt32LE(d, at + 12);
  }

  #writeRun(at: number, run: Run): void {
    this.bytes.writeDoubleLE(run.start, at);
    this.bytes.writeUInt32LE(run.count, at + 8);
  }

  #begin(kind: number, bytes: number): number {
    const at = this.length;
    this.length += 1 + bytes;
    while (this.length > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(this.bytes.length * 2);
      this.bytes.copy(larger);
      this.bytes = larger;
    }
    this.bytes[at] = kind;
    return at + 1;
  }
}

/** Passes the records of a batch to the handler, in order. */
export async function readRecords(batch: Buffer, handler: RecordHandler): Promise<void> {
  const key = new Key();
  for (let at = BATCH_HEADER_BYTES; at < batch.length;) {
    const kind = batch[at];
    at += 1;
    if (kind === PUT || kind === DELETE) {
      key.set(0, 0, 0);
      key.a = batch.readUInt32LE(at);
      key.b = batch.readUInt32LE(at + 4);
      key.c = batch.readUInt32LE(at + 8);
      key.d = batch.readUInt32LE(at + 12);
      at += KEY_BYTES;
      if (kind === DELETE) {
        await handler.delete?.(key);
        continue;
      }
      const length = batch.readUInt16LE(at);
      await handler.put?.(key, batch.subarray(at + 2, at + 2 + length));
      at += 2 + length;
      continue;
    }
    const run = { start: batch.readDoubleLE(at), count: batch.readUInt32LE(at + 8) };
    if (kind === CHECK) {
      handler.check?.({ ...run, sum: batch.readUInt32LE(at + RUN_BYTES) });
      at += CHECK_BYTES;
      continue;
    }
    await (kind === ALLOCATE ? handler.allocate?.(run) : handler.free?.(run));
    at += RUN_BYTES;
  }
}

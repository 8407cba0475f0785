import { setTimeout as sleep } from 'node:timers/promises';
import { partitionInPolicy, policyOfPartition } from '../blobs/pieces.ts';
import type { RepairResult, SegmentName, StorageWorker } from '../layout/manager-types.ts';
import type { Layout, Ring } from '../layout/layout.ts';
import type { IndexCommit } from '../index/index-operations.ts';
import type { BlobRecord, BlobRef, Place } from '../records.ts';
import { ObjectError } from '../errors.ts';

/** What repair needs of the index: `IndexReader` has it. */
export interface BlobsOfIndex {
  /** In order of their ids, after the one given. */
  blobsOf(partition: number, after: Uint8Array | null, limit: number): BlobRecord[];
  blob(partition: number, id: Uint8Array): BlobRecord | undefined;
}

/** What repair needs of the bytes: `PieceBuilder` has it. */
export interface Pieces {
  rebuild(
    record: BlobRecord,
    slot: number,
    drive: number,
  ): Promise<{ readonly place: Place; readonly pieceBytes: number }>;
  isGood(record: BlobRecord, slot: number): Promise<boolean>;
}

/** What repair needs of the drives: `Drives` has it. */
export interface OpenDrives {
  get(drive: number):
    | {
        walk(segment: number): AsyncIterable<{
          readonly id: Uint8Array;
          readonly partition: number;
          readonly slot: number;
          readonly place: Place;
        }>;
      }
    | undefined;
  writtenSegments(): readonly SegmentName[];
}

export interface RepairerOptions {
  readonly layout: () => Layout;
  readonly drives: OpenDrives;
  readonly pieces: Pieces;
  readonly index: BlobsOfIndex;
  readonly commit: IndexCommit;
}

/** Blobs under way at once: enough that small ones share their syncs, few enough to leave memory and disk to clients. */
const AT_ONCE = 16;
const BYTES_AT_ONCE = 32 * 1024 * 1024;
const BATCH = 256;
const LONGEST_PAUSE_MS = 100;
/** What took less did not touch the disk. */
const SHORTEST_WORK_MS = 2;

interface Tally {
  examined: number;
  rebuilt: number;
  bytes: number;
  unreadable: number;
  whole: boolean;
}

/** Mends and compacts in the thread it lives in; what the storage manager asks of it arrives as plain data. */
export class Repairer implements StorageWorker {
  readonly #options: RepairerOptions;

  constructor(options: RepairerOptions) {
    this.#options = options;
  }

  async repair(partition: number, verify: boolean): Promise<RepairResult> {
    const layout = this.#options.layout();
    const ring = layout.rings.find(({ policy }) => policy.index === policyOfPartition(partition));
    const tally: Tally = { examined: 0, rebuilt: 0, bytes: 0, unreadable: 0, whole: ring !== undefined };
    if (!ring) return tally;
    let after: Uint8Array | null = null;
    for (;;) {
      const blobs = this.#options.index.blobsOf(partition, after, BATCH);
      await inLots(
        blobs,
        (blob) => blob.size,
        (blob) => this.#repairBlob(blob, ring, verify, tally),
      );
      const last = blobs.at(-1);
      if (!last || blobs.length < BATCH) return tally;
      after = last.id;
    }
  }

  async compact(drive: number, segment: number): Promise<number> {
    const folder = this.#options.drives.get(drive);
    if (!folder) throw new ObjectError('no-quorum', `Drive ${drive} is not there.`);
    let moved = 0;
    let lot: { readonly blob: BlobRecord; readonly slot: number }[] = [];
    const moveLot = async (): Promise<void> => {
      const pieces = lot;
      lot = [];
      await inLots(
        pieces,
        ({ blob }) => blob.size,
        async ({ blob, slot }) => {
          moved += await this.#rewrite(blob, slot, drive);
        },
      );
    };
    for await (const { id, partition, slot, place } of folder.walk(segment)) {
      const blob = this.#options.index.blob(partition, id);
      if (!blob || !samePlace(blob.places[slot] ?? null, place)) continue;
      lot.push({ blob, slot });
      if (lot.length >= BATCH) await moveLot();
    }
    await moveLot();
    return moved;
  }

  busySegments(): Promise<readonly SegmentName[]> {
    return Promise.resolve(this.#options.drives.writtenSegments());
  }

  async #repairBlob(blob: BlobRecord, ring: Ring, verify: boolean, tally: Tally): Promise<void> {
    tally.examined += 1;
    let record = blob;
    let isLost = false;
    for (let slot = 0; slot < ring.slots; slot += 1) {
      const drive = ring.drives[partitionInPolicy(blob.partition) * ring.slots + slot] ?? 0;
      if (drive === 0) continue;
      try {
        if (await this.#isRight(record, slot, drive, verify)) continue;
        const { place, pieceBytes } = await this.#replace(record, slot, drive);
        if (!place) {
          // Gone is well; moved by someone else meanwhile has to be looked at again.
          tally.whole &&= !this.#options.index.blob(blob.partition, blob.id);
          return;
        }
        record = { ...record, places: record.places.with(slot, place) };
        tally.rebuilt += 1;
        tally.bytes += pieceBytes;
      } catch (error) {
        // A blob that was deleted meanwhile may have lost its bytes: that is no loss.
        if (!this.#options.index.blob(blob.partition, blob.id)) return;
        tally.whole = false;
        isLost ||= error instanceof ObjectError && error.code === 'unreadable';
      }
    }
    if (isLost) tally.unreadable += 1;
  }

  async #isRight(record: BlobRecord, slot: number, drive: number, verify: boolean): Promise<boolean> {
    if (!this.#options.drives.get(drive)) throw new ObjectError('no-quorum', `Drive ${drive} is not there.`);
    if (record.places[slot]?.drive !== drive) return false;
    return !verify || (await this.#options.pieces.isGood(record, slot));
  }

  /** Without a place when the piece moved or went meanwhile. */
  async #replace(
    record: BlobRecord,
    slot: number,
    drive: number,
  ): Promise<{ readonly place: Place | null; readonly pieceBytes: number }> {
    const { place, pieceBytes } = await this.#options.pieces.rebuild(record, slot, drive);
    const from = record.places[slot] ?? null;
    const blob: BlobRef = { partition: record.partition, id: record.id, size: record.size };
    const moved = await this.#options.commit('relocate', { blob, slot, from, to: place, pieceBytes });
    return { place: moved ? place : null, pieceBytes: moved ? pieceBytes : 0 };
  }

  async #rewrite(blob: BlobRecord, slot: number, drive: number): Promise<number> {
    try {
      return (await this.#replace(blob, slot, drive)).pieceBytes;
    } catch (error) {
      const now = this.#options.index.blob(blob.partition, blob.id);
      if (!now || !samePlace(now.places[slot] ?? null, blob.places[slot] ?? null)) return 0;
      throw error;
    }
  }
}

function samePlace(a: Place | null, b: Place | null): boolean {
  return a?.drive === b?.drive && a?.segment === b?.segment && a?.offset === b?.offset;
}

/** A few at a time, then a pause half as long as the work: clients keep most of the disk. */
async function inLots<T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  for (let next = 0; next < items.length;) {
    const start = performance.now();
    const lot: T[] = [];
    for (let bytes = 0; next < items.length && lot.length < AT_ONCE; next += 1) {
      const item = items[next] as T;
      bytes += sizeOf(item);
      if (lot.length > 0 && bytes > BYTES_AT_ONCE) break;
      lot.push(item);
    }
    const results = await Promise.allSettled(lot.map(work));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    const busy = performance.now() - start;
    if (busy > SHORTEST_WORK_MS) await sleep(Math.min(busy / 2, LONGEST_PAUSE_MS));
  }
}

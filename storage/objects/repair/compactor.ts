import type { SegmentInfo } from '../drives/drive-space.ts';
import type { OpenDrives } from '../drives/drives.ts';
import { ObjectError } from '../errors.ts';
import { doubtPartition, liveIn, liveSegments } from '../layout/drive-catalogue.ts';
import { PARTITIONS_PER_POLICY } from '../blobs/pieces.ts';
import type { LayoutState } from '../layout/layout-state.ts';
import type { StorageWorker } from '../layout/manager-types.ts';
import type { SegmentNumbers } from '../layout/segment-numbers.ts';

/** A segment with less than this share of live bytes is rewritten. */
const WORTH_KEEPING = 0.5;
/** Most segments compacted on one drive in one run. */
const COMPACTED_AT_ONCE = 32;

export interface CompactorOptions {
  readonly state: LayoutState;
  readonly drives: OpenDrives;
  readonly numbers: SegmentNumbers;
  readonly workers: () => readonly StorageWorker[];
  /** How long a segment must have been out of use before it is touched: what was staged in it gets committed by then. */
  readonly graceMs: number;
  /** A drive could not be compacted; the others were. */
  readonly onError: (error: Error) => void;
}

export interface CompactionResult {
  removed: number;
  compacted: number;
  bytes: number;
}

/** Frees the space of dead pieces: drops segments without live pieces, and rewrites those with few. */
export class Compactor {
  readonly #options: CompactorOptions;
  /** Segments given out by this process that were seen to be out of use: since when, and what they were like then. */
  readonly #idle = new Map<string, { readonly since: number; readonly bytes: number; readonly modifiedAt: number }>();
  /** Segments in which compaction left something: not tried again until the next start. */
  readonly #stubborn = new Set<string>();
  #isClosed = false;

  constructor(options: CompactorOptions) {
    this.#options = options;
  }

  async run(): Promise<CompactionResult> {
    const result: CompactionResult = { removed: 0, compacted: 0, bytes: 0 };
    const workers = this.#options.workers();
    const busy = await this.#busy(workers);
    for (const { number } of this.#options.state.drives) {
      if (this.#isClosed) break;
      if (!this.#options.state.isLive(number)) continue;
      try {
        await this.#compactDrive(number, busy, workers, result);
      } catch (error) {
        // A drive that goes offline meanwhile is reported by `DriveRegistry`.
        if (this.#options.drives.get(number) && !isMissing(error)) this.#options.onError(error as Error);
      }
    }
    return result;
  }

  close(): void {
    this.#isClosed = true;
  }

  async #busy(workers: readonly StorageWorker[]): Promise<Set<string>> {
    const theirs = await Promise.all(workers.map((worker) => worker.busySegments()));
    const all = [...this.#options.drives.writtenSegments(), ...theirs.flat()];
    return new Set(all.map(({ drive, segment }) => keyOf(drive, segment)));
  }

  async #compactDrive(
    drive: number,
    busy: ReadonlySet<string>,
    workers: readonly StorageWorker[],
    result: CompactionResult,
  ): Promise<void> {
    const live = liveSegments(this.#options.state.reader, drive);
    const files = (await this.#options.drives.get(drive)?.segments()) ?? null;
    if (!files) return;
    await this.#noticeLost(drive, live, files);
    const idle = files.filter((file) => this.#isIdle(drive, file, busy));
    await this.#untilDurable();
    for (const { number } of idle.filter((file) => !live.has(file.number))) {
      result.bytes += await this.#drop(drive, number, result);
    }
    const sparse = idle
      .filter(({ number, bytes }) => (live.get(number) ?? 0) > 0 && (live.get(number) ?? 0) < bytes * WORTH_KEEPING)
      .filter(({ number }) => !this.#stubborn.has(keyOf(drive, number)))
      .toSorted((a, b) => (live.get(a.number) ?? 0) / a.bytes - (live.get(b.number) ?? 0) / b.bytes);
    for (const [at, { number }] of sparse.slice(0, COMPACTED_AT_ONCE).entries()) {
      const worker = workers[at % Math.max(workers.length, 1)];
      if (!worker || this.#isClosed) return;
      await this.#empty(worker, drive, number);
      result.compacted += 1;
      await this.#untilDurable();
      const freed = await this.#drop(drive, number, result);
      if (freed === 0) this.#stubborn.add(keyOf(drive, number));
      result.bytes += freed;
    }
  }

  /** The index is seen before it is on disk: a power cut would bring back what points into a dropped segment. */
  async #untilDurable(): Promise<void> {
    await this.#options.state.change(() => undefined);
  }

  /** What cannot be read anywhere stays where it is; the other segments are not to wait for it. */
  async #empty(worker: StorageWorker, drive: number, segment: number): Promise<void> {
    try {
      await worker.compact(drive, segment);
    } catch (error) {
      if (!(error instanceof ObjectError) || error.code !== 'unreadable') throw error;
    }
  }

  /**
   * A segment this process gave out may be written to, or hold bytes that are not committed yet. Threads were asked a
   * while ago, so one that was made since looks idle; its size or its time of change shows it.
   */
  #isIdle(drive: number, { number, bytes, modifiedAt }: SegmentInfo, busy: ReadonlySet<string>): boolean {
    if (!this.#options.numbers.wasGiven(drive, number)) return true;
    const key = keyOf(drive, number);
    if (busy.has(key)) {
      this.#idle.delete(key);
      return false;
    }
    const now = this.#options.state.now();
    const before = this.#idle.get(key);
    const isSame = before?.bytes === bytes && before.modifiedAt === modifiedAt;
    const since = isSame ? before.since : now;
    this.#idle.set(key, { since, bytes, modifiedAt });
    return now - since >= this.#options.graceMs;
  }

  async #drop(drive: number, segment: number, result: CompactionResult): Promise<number> {
    if (liveIn(this.#options.state.reader, drive, segment) > 0) return 0;
    const freed = (await this.#options.drives.get(drive)?.removeSegment(segment)) ?? 0;
    this.#options.numbers.drop(drive, segment);
    this.#idle.delete(keyOf(drive, segment));
    result.removed += 1;
    return freed;
  }

  /** A segment that should be there and is not: whatever is on the drive has to be looked at. */
  async #noticeLost(drive: number, live: ReadonlyMap<number, number>, files: readonly SegmentInfo[]): Promise<void> {
    const there = new Set(files.map(({ number }) => number));
    const lost = [...live.keys()].filter((segment) => !there.has(segment));
    const stillLost = lost.filter((segment) => liveIn(this.#options.state.reader, drive, segment) > 0);
    if (stillLost.length === 0) return;
    const partitions = this.#options.state.rings.flatMap((ring) =>
      Array.from({ length: ring.partitions }, (_, partition) => partition)
        .filter((partition) =>
          ring.drives.subarray(partition * ring.slots, (partition + 1) * ring.slots).includes(drive),
        )
        .map((partition) => ring.policy * PARTITIONS_PER_POLICY + partition),
    );
    const fresh = partitions.filter((partition) => !this.#options.state.partitions.marked.get(partition)?.doubted);
    if (fresh.length === 0) return;
    await this.#options.state.change((db) => fresh.forEach((partition) => doubtPartition(db, partition)));
    this.#options.state.readMarks();
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'ENOENT' || code === 'not-found' || code === 'no-quorum';
}

function keyOf(drive: number, segment: number): string {
  return `${drive}/${segment}`;
}

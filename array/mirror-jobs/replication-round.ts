import { peerApi } from '@granary/contract/array';
import { fail } from '@granary/kernel';
import type { ChangedRange, Engine } from '../engine/engine.ts';
import type { PeerLink } from '../remote-arrays/peer-link.ts';
import type { FrameSize } from './frame-size.ts';
import { FRAME_RANGES_MAX, frameLabel, FrameWriter, type Range } from './frames.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** One snapshot on its way: from what the other side has to what it is to have. */
export interface RoundPlan {
  readonly job: string;
  readonly base: string | null;
  readonly snapshot: string;
  readonly sizeBytes: number;
  /** From where the other side wants it. */
  readonly from: number;
}

export interface RoundTools {
  readonly engine: Engine;
  readonly link: PeerLink;
  readonly pace: RateLimiter;
  readonly size: FrameSize;
  /** Bytes a second on the wire; 0 is no limit. Asked before each frame. */
  readonly limit: () => number;
  readonly signal: AbortSignal;
  /** Called after the other side confirmed a part. */
  readonly confirmed: (progress: Progress) => Promise<void>;
}

export interface Progress {
  readonly position: number;
  readonly sentBytes: number;
  readonly wireBytes: number;
  readonly ms: number;
}

interface Batch {
  readonly from: number;
  readonly to: number;
  readonly ranges: readonly Range[];
  readonly dataBytes: number;
}

const PAGE = 512;
const READ_BYTES_MAX = 2 ** 20;
const FRAME_MS_MAX = 90_000;
const { writeRanges } = peerApi.groups.peers;

/** Ships what differs, part by part, each only once the one before is on the other side's disk. */
export class ReplicationRound {
  readonly #plan: RoundPlan;
  readonly #tools: RoundTools;
  readonly #frames = new FrameWriter();
  /** Known differences that were not read yet. */
  #pending: ChangedRange[] = [];
  #isAllKnown = false;

  constructor(plan: RoundPlan, tools: RoundTools) {
    this.#plan = plan;
    this.#tools = tools;
  }

  async ship(): Promise<void> {
    const { sizeBytes } = this.#plan;
    let position = this.#plan.from;
    let next = this.#prepare(position);
    while (position < sizeBytes) {
      const batch = await next;
      // While one part travels the next is read.
      next = batch.to < sizeBytes ? this.#prepare(batch.to) : Promise.resolve(batch);
      next.catch(() => undefined);
      const confirmed = await this.#send(batch);
      if (confirmed !== batch.to) {
        await next;
        this.#reset();
        next = this.#prepare(confirmed);
      }
      position = confirmed;
    }
  }

  async #send(batch: Batch): Promise<number> {
    const { job, snapshot } = this.#plan;
    const { link, pace, size, limit, signal, confirmed } = this.#tools;
    if (batch.ranges.length === 0) return batch.to;
    const { from, to } = batch;
    const startedAt = performance.now();
    const frame = await this.#frames.write(batch.ranges);
    const octets = link.seal(frame, frameLabel(job, snapshot, from, to));
    await pace.pass(octets.length, limit, signal);
    const sentAt = performance.now();
    const { mirror } = await link.call(
      writeRanges,
      { job, snapshot, from, to },
      {
        octets,
        timeoutMs: FRAME_MS_MAX,
        signal,
      },
    );
    if (mirror.state === 'broken' || mirror.round !== snapshot || mirror.position < 0)
      throw fail('mirror_snapshot_refused', { name: job, snapshot });
    size.took(performance.now() - sentAt);
    await confirmed({
      position: mirror.position,
      sentBytes: batch.dataBytes,
      wireBytes: octets.length,
      ms: Math.round(performance.now() - startedAt),
    });
    return mirror.position;
  }

  async #prepare(from: number): Promise<Batch> {
    const bytesMax = this.#tools.size.under(this.#tools.limit());
    const ranges: Range[] = [];
    let position = from;
    let dataBytes = 0;
    while (dataBytes < bytesMax && ranges.length < FRAME_RANGES_MAX) {
      this.#tools.signal.throwIfAborted();
      const range = await this.#nextRange(position);
      if (!range) return { from, to: this.#plan.sizeBytes, ranges, dataBytes };
      const most = range.mapped ? Math.min(bytesMax - dataBytes, READ_BYTES_MAX) : range.length;
      const length = Math.min(range.length, most);
      ranges.push(await this.#read(range, length));
      if (range.mapped) dataBytes += length;
      position = range.offset + length;
    }
    return { from, to: position, ranges, dataBytes };
  }

  async #read({ offset, mapped }: ChangedRange, length: number): Promise<Range> {
    if (!mapped) return { offset, length };
    return { offset, length, bytes: await this.#tools.engine.readSnapshot(this.#plan.snapshot, offset, length) };
  }

  /** The next difference at or after a position; none when there are no more. */
  async #nextRange(position: number): Promise<ChangedRange | undefined> {
    const { base, snapshot, sizeBytes } = this.#plan;
    for (;;) {
      const first = this.#pending[0];
      if (first) {
        const range = clipped(first, position, sizeBytes);
        if (range) return range;
        this.#pending.shift();
        continue;
      }
      if (this.#isAllKnown) return undefined;
      this.#pending = [...(await this.#tools.engine.changes(base ?? undefined, snapshot, position, PAGE))];
      const last = this.#pending.at(-1);
      this.#isAllKnown = !last || last.offset + last.length <= position;
    }
  }

  #reset(): void {
    this.#pending = [];
    this.#isAllKnown = false;
  }
}

/** The part of it that is not passed yet. */
function clipped({ offset, length, mapped }: ChangedRange, from: number, to: number): ChangedRange | undefined {
  const start = Math.max(offset, from);
  const end = Math.min(offset + length, to);
  return start < end ? { offset: start, length: end - start, mapped } : undefined;
}

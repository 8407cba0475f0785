import { counter, setCounter } from '../layout/drive-catalogue.ts';
import { PARTITIONS_PER_POLICY } from '../blobs/pieces.ts';
import type { LayoutState } from '../layout/layout-state.ts';
import type { RepairQueue } from './repair-queue.ts';

export interface ScrubResult {
  examined: number;
  rebuilt: number;
  unreadable: number;
}

/** Reads every piece of every partition, over and over, slowly; its position is in the index. */
export class Scrubber {
  readonly #state: LayoutState;
  readonly #queue: RepairQueue;
  readonly #periodMs: number;
  #nextAt: number | undefined;
  #isRunning = false;

  constructor(state: LayoutState, queue: RepairQueue, periodMs: number) {
    this.#state = state;
    this.#queue = queue;
    this.#periodMs = periodMs;
  }

  /** Goes on with the next partition when it is time. */
  async tick(): Promise<void> {
    const partitions = this.#partitions();
    if (this.#isRunning || partitions.length === 0) return;
    const pauseMs = this.#periodMs / partitions.length;
    this.#nextAt ??= (counter(this.#state.reader, 'scrubbed-at') || this.#state.now()) + pauseMs;
    if (this.#state.now() < this.#nextAt) return;
    this.#nextAt = this.#state.now() + pauseMs;
    const cursor = counter(this.#state.reader, 'scrub-cursor');
    const partition = partitions.find((one) => one >= cursor) ?? partitions[0];
    if (partition !== undefined) await this.#once(() => this.#scrub(partition));
  }

  /** All of it, now. */
  async all(): Promise<ScrubResult> {
    const total: ScrubResult = { examined: 0, rebuilt: 0, unreadable: 0 };
    for (const partition of this.#partitions()) {
      const { examined, rebuilt, unreadable } = await this.#queue.verify(partition);
      total.examined += examined;
      total.rebuilt += rebuilt;
      total.unreadable += unreadable;
    }
    return total;
  }

  async #scrub(partition: number): Promise<void> {
    await this.#queue.verify(partition);
    await this.#state.change((db) => {
      setCounter(db, 'scrub-cursor', partition + 1);
      setCounter(db, 'scrubbed-at', this.#state.now());
    });
  }

  async #once(work: () => Promise<void>): Promise<void> {
    this.#isRunning = true;
    try {
      await work();
    } finally {
      this.#isRunning = false;
    }
  }

  #partitions(): number[] {
    return this.#state.rings.flatMap((ring) =>
      Array.from({ length: ring.partitions }, (_, partition) => ring.policy * PARTITIONS_PER_POLICY + partition),
    );
  }
}

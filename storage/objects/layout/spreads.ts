import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Reads } from '@granary/kernel/sqlite';
import { unpackPlaces } from '../index/places.ts';
import type { LayoutState } from './layout-state.ts';

const AT_ONCE = 500;

/** The ways in which blobs of a partition are spread over drives, each once: drive by slot, 0 for a missing piece. */
async function findSpreads(db: Reads, partition: number): Promise<number[][]> {
  const found = new Map<string, number[]>();
  let after: Uint8Array = new Uint8Array(0);
  for (;;) {
    const rows = db.all<{ id: Uint8Array; places: Uint8Array }>(
      'SELECT id, places FROM blobs WHERE partition = ? AND id > ? ORDER BY id LIMIT ?',
      partition,
      after,
      AT_ONCE,
    );
    for (const { places } of rows) {
      const spread = unpackPlaces(places).map((place) => place?.drive ?? 0);
      found.set(spread.join(), spread);
    }
    const last = rows.at(-1);
    if (!last || rows.length < AT_ONCE) return [...found.values()];
    after = last.id;
    await nextTurn();
  }
}

/** Finds where the blobs of marked partitions are, so that the state of each partition is known exactly. */
export class SpreadAssessor {
  readonly #state: LayoutState;
  readonly #closing: AbortSignal;
  #isRunning = false;

  constructor(state: LayoutState, closing: AbortSignal) {
    this.#state = state;
    this.#closing = closing;
  }

  async assess(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (const { partition, mark } of this.#state.partitions.unknown()) {
        if (this.#closing.aborted) return;
        this.#state.partitions.setSpreads(partition, mark, await findSpreads(this.#state.reader, partition));
      }
    } finally {
      this.#isRunning = false;
    }
  }
}

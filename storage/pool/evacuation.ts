import { setImmediate } from 'node:timers/promises';
import { StorageError } from '../errors.ts';
import { BLOCK_BYTES } from '../units.ts';
import { entriesOf, extentOf, isData } from '../volume/extent-map.ts';
import type { Layer } from '../volume/layers.ts';
import type { Volume } from '../volume/volume.ts';
import type { GroupSpace } from './allocator.ts';
import type { PoolState } from './state.ts';

export interface EvacuationOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

const MOVES_PER_COMMIT = 256;

/**
 * Moves all extents off a group, while volumes are read and written. Nothing is allocated on it meanwhile. After a
 * cancellation, extents that have moved stay where they are.
 */
export async function evacuate(
  state: PoolState,
  volumeOf: (layer: Layer) => Volume | undefined,
  space: GroupSpace,
  options: EvacuationOptions,
): Promise<void> {
  const total = Math.max(space.used, 1);
  const refuseIfCancelled = (): void => {
    if (options.signal?.aborted === true) throw new StorageError('cancelled', 'The evacuation was cancelled.');
    if (state.folding.isClosed) throw new StorageError('closed', 'The pool is closed.');
  };
  let moved = 0;
  const move = new Mover(state, volumeOf, space, () => {
    moved++;
    options.onProgress?.(Math.min(1, moved / total));
    refuseIfCancelled();
  });
  // Data written to the group after a layer was visited belongs to the same layers: another round finds it.
  for (let left = Infinity; space.used > 0; left = space.used) {
    if (space.used >= left) {
      throw new StorageError(
        'conflict',
        `${left} extents of ${space.groupId} do not move; close the pool and check it.`,
      );
    }
    refuseIfCancelled();
    await move.round();
    await state.commits.commit();
    await state.extents.idle();
  }
}

class Mover {
  readonly #state: PoolState;
  readonly #volumeOf: (layer: Layer) => Volume | undefined;
  readonly #space: GroupSpace;
  readonly #afterEach: () => void;
  #moved = 0;

  constructor(
    state: PoolState,
    volumeOf: (layer: Layer) => Volume | undefined,
    space: GroupSpace,
    afterEach: () => void,
  ) {
    this.#state = state;
    this.#volumeOf = volumeOf;
    this.#space = space;
    this.#afterEach = afterEach;
  }

  async round(): Promise<void> {
    for (const layer of [...this.#state.layers.all()]) {
      if (layer.format === 'plain') await this.#moveLayer(layer);
      await setImmediate();
    }
    await this.#moveContainers();
  }

  async #moveContainers(): Promise<void> {
    const { reduced } = this.#state.formats;
    for (const id of reduced.containersOn((extent) => this.#space.has(extent))) {
      await reduced.space.move(id);
      await this.#step();
    }
  }

  async #moveLayer(layer: Layer): Promise<void> {
    const numbers: number[] = [];
    for (const { number, entry } of entriesOf(layer.map)) {
      if (isData(entry) && this.#space.has(extentOf(entry))) numbers.push(number);
    }
    for (const number of numbers) {
      await this.#moveEntry(layer, number);
      await this.#step();
    }
  }

  async #moveEntry(layer: Layer, number: number): Promise<void> {
    const format = this.#state.formats[layer.format];
    const volume = this.#volumeOf(layer);
    if (!volume) {
      await format.relocateEntry(layer, number);
      return;
    }
    const blocks = format.entryBytes / BLOCK_BYTES;
    await volume.lock.run(number * blocks, (number + 1) * blocks, () => {
      const now = layer.map.get(number);
      return this.#space.has(extentOf(now)) ? format.relocateEntry(layer, number) : undefined;
    });
  }

  async #step(): Promise<void> {
    this.#moved++;
    if (this.#moved % MOVES_PER_COMMIT === 0) await this.#state.commits.commit();
    this.#afterEach();
  }
}

import assert from 'node:assert/strict';
import { FsError } from '../errors.ts';
import { NODE_BLOCKS } from './layout.ts';
import type { Run } from './space-map-page.ts';
import type { NodePlace } from './node.ts';
import type { Space } from './space.ts';
import { type NodePlaces, NODES_PER_CHANGE } from './tree.ts';

/** Places are reserved in runs of this many nodes: nodes that change together are written together. */
const REFILL_NODES = 64;

/**
 * Places for the nodes of the tree. Some are always ready, so that a change of the tree, once begun, never has to look
 * for space, which would require reading the tree.
 */
export class NodePool implements NodePlaces {
  readonly #space: Space;
  readonly #ready: Run[] = [];
  #retired: Run[] = [];
  #goal = 0;
  /** The number of the next checkpoint. */
  generation: number;

  constructor(space: Space, generation: number) {
    this.#space = space;
    this.generation = generation;
  }

  get readyCount(): number {
    return this.#ready.length;
  }

  /** To be called before each change of the tree. May throw `MISS` or ENOSPC; then nothing has changed. */
  ensure(): void {
    while (this.#ready.length < NODES_PER_CHANGE) this.#refill();
  }

  allocate(): NodePlace {
    const run = this.#ready.pop();
    assert.ok(run, 'places for nodes were made ready before the change');
    this.#space.claim(run);
    return { address: run.start, generation: this.generation };
  }

  retire(place: NodePlace): void {
    const run = { start: place.address, count: NODE_BLOCKS };
    this.#space.retire(run);
    // A node that no checkpoint has written is not on disk.
    if (place.generation === this.generation) this.#ready.push(run);
    else this.#retired.push(run);
  }

  /** Begins the next generation. Returns the places that are free once the checkpoint is durable. */
  freeze(): Run[] {
    const retired = this.#retired;
    this.#retired = [];
    this.generation += 1;
    return retired;
  }

  release(retired: readonly Run[]): void {
    for (const run of retired) this.#space.release(run);
  }

  /** The checkpoint failed: it is unknown which of the two superblocks is the newest on disk. */
  keepRetired(retired: readonly Run[]): void {
    this.#retired = [...retired, ...this.#retired];
  }

  #refill(): void {
    let rest = this.#space.reserve(REFILL_NODES * NODE_BLOCKS, this.#goal);
    if (rest.count < NODE_BLOCKS) {
      this.#space.release(rest);
      rest = this.#space.reserve(NODE_BLOCKS, 0);
      if (rest.count < NODE_BLOCKS) {
        this.#space.release(rest);
        throw new FsError('ENOSPC', 'No space for metadata is free; delete files or grow the volume.');
      }
    }
    this.#goal = rest.start + rest.count;
    const places: Run[] = [];
    while (rest.count > NODE_BLOCKS) {
      const [place, others] = this.#space.divide(rest, NODE_BLOCKS);
      places.push(place);
      rest = others;
    }
    if (rest.count === NODE_BLOCKS) places.push(rest);
    else this.#space.release(rest);
    // The last one is allocated next.
    this.#ready.unshift(...places.reverse());
  }
}

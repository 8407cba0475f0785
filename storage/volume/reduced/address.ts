import { BLOCKS_PER_EXTENT } from '../../units.ts';

/** The blocks of one entry of a reduced map: they are compressed and shared together. */
export const BLOCKS_PER_CHUNK = 8;

/** Ids start here, so that no address equals a hole or a discarded entry of a map. */
export const FIRST_CONTAINER = 2 ** 22;

const STEPS_PER_BLOCK = 16;
const STEPS_PER_CONTAINER = BLOCKS_PER_EXTENT * STEPS_PER_BLOCK;
export const FIRST_ADDRESS = FIRST_CONTAINER * STEPS_PER_CONTAINER;

/**
 * The address of a chunk as one number: its container, its first block therein, its number of blocks, and whether the
 * index of shared chunks has it, which saves a search of the index when any other chunk is released.
 */
export function addressOf(container: number, first: number, count: number, indexed: boolean): number {
  return container * STEPS_PER_CONTAINER + first * STEPS_PER_BLOCK + (count - 1) * 2 + (indexed ? 1 : 0);
}

export function containerOf(address: number): number {
  return Math.floor(address / STEPS_PER_CONTAINER);
}

export function firstBlockOf(address: number): number {
  return Math.floor((address % STEPS_PER_CONTAINER) / STEPS_PER_BLOCK);
}

export function blockCountOf(address: number): number {
  return Math.floor((address % STEPS_PER_BLOCK) / 2) + 1;
}

export function isIndexed(address: number): boolean {
  return address % 2 === 1;
}

/** A chunk that fills all of its blocks is stored as it is, without a header. */
export function isRaw(address: number): boolean {
  return blockCountOf(address) === BLOCKS_PER_CHUNK;
}

export function isAddress(entry: number): boolean {
  return entry >= FIRST_ADDRESS;
}

/** The number of a chunk's first block for a cipher; it does not change when its container moves. */
export function cipherUnitOf(address: number): number {
  return containerOf(address) * BLOCKS_PER_EXTENT + firstBlockOf(address);
}

import assert from 'node:assert/strict';
import { ARENA_AT, ARENA_BYTES, memoryBuffer } from './instance.ts';

/**
 * Page-aligned buffers inside the memory of the kernels, which work on them in place. The arena is divided into chunks
 * of 2 MiB; a chunk serves one size class at a time, a power of two from 4 KiB up, and keeps the Buffer object of each
 * slot, because creating one costs more than everything else here. When the arena is full an ordinary buffer is
 * returned: the kernels accept both, so no caller waits for memory.
 */
const CHUNK_SHIFT = 21;
const CHUNK_BYTES = 2 ** CHUNK_SHIFT;
const SMALLEST_SHIFT = 12;
const CLASSES = CHUNK_SHIFT - SMALLEST_SHIFT + 1;

/** One byte more than is used: copying a whole buffer is as slow as filling one. */
const ZEROS_USED = 64 * 1024;
const ZEROS = Buffer.alloc(ZEROS_USED + 1);

interface Chunk {
  readonly at: number;
  /** The size of a slot is two to this power. Zero: the chunk serves no class. */
  shift: number;
  slots: number;
  /** The free slots, as a stack: the slot used last is still in the processor's cache. */
  readonly free: Uint16Array;
  freeCount: number;
  readonly used: Uint8Array;
  views: (Buffer | undefined)[];
}

const chunks: readonly Chunk[] = Array.from({ length: ARENA_BYTES / CHUNK_BYTES }, (_, index) => ({
  at: ARENA_AT + index * CHUNK_BYTES,
  shift: 0,
  slots: 0,
  free: new Uint16Array(CHUNK_BYTES >> SMALLEST_SHIFT),
  freeCount: 0,
  used: new Uint8Array(CHUNK_BYTES >> SMALLEST_SHIFT),
  views: [],
}));

const unassigned: Chunk[] = chunks.toReversed();

/** For each class, the chunks that have a free slot. */
const available: readonly Chunk[][] = Array.from({ length: CLASSES }, () => []);

/** The content is undefined. Sizes above 2 MiB, and all sizes when the arena is full, are ordinary buffers. */
export function allocate(bytes: number): Buffer {
  if (!Number.isSafeInteger(bytes) || bytes < 0) assert.fail(`${bytes} is not a size in bytes`);
  if (bytes > CHUNK_BYTES) return Buffer.allocUnsafeSlow(bytes);
  const shift = bytes <= 2 ** SMALLEST_SHIFT ? SMALLEST_SHIFT : 32 - Math.clz32(bytes - 1);
  const candidates = available[shift - SMALLEST_SHIFT] as Chunk[];
  const chunk = candidates[candidates.length - 1] ?? assignChunk(shift, candidates);
  if (!chunk) return Buffer.allocUnsafeSlow(bytes);
  chunk.freeCount -= 1;
  if (chunk.freeCount === 0) candidates.pop();
  const slot = chunk.free[chunk.freeCount] as number;
  chunk.used[slot] = 1;
  const view = chunk.views[slot];
  if (view?.length === bytes) return view;
  return (chunk.views[slot] = Buffer.from(memoryBuffer, chunk.at + (slot << shift), bytes));
}

/** Returns a buffer of `allocate`. Ordinary buffers are left to the garbage collector. */
export function release(buffer: Buffer): void {
  if (buffer.buffer !== memoryBuffer) return;
  const place = buffer.byteOffset - ARENA_AT;
  const chunk = chunks[place >> CHUNK_SHIFT];
  assert.ok(chunk, 'this is no buffer of the arena: release what allocate gave');
  const slot = (place & (CHUNK_BYTES - 1)) >> chunk.shift;
  assert.ok(chunk.views[slot] === buffer, 'this is a part of a buffer: release the very one that allocate gave');
  assert.ok(chunk.used[slot] === 1, 'this buffer was released before: release each one once');
  chunk.used[slot] = 0;
  if (chunk.freeCount === 0) available[chunk.shift - SMALLEST_SHIFT]?.push(chunk);
  chunk.free[chunk.freeCount] = slot;
  chunk.freeCount += 1;
}

/** Fills with zeros: `fill` takes twenty times as long on memory shared between threads. */
export function clear(buffer: Buffer, from = 0, to = buffer.length): void {
  for (let at = from; at < to; at += ZEROS_USED) ZEROS.copy(buffer, at, 0, Math.min(ZEROS_USED, to - at));
}

/** Whether the kernels can work on the buffer, or a part of one, in place. */
export function isInArena(buffer: Uint8Array): boolean {
  return buffer.buffer === memoryBuffer;
}

/** Assigns a chunk to a class: one without a class, else an unused one of another class. */
function assignChunk(shift: number, candidates: Chunk[]): Chunk | undefined {
  const chunk = unassigned.pop() ?? takeIdleChunk();
  if (!chunk) return undefined;
  chunk.shift = shift;
  chunk.slots = CHUNK_BYTES >> shift;
  chunk.views = new Array<Buffer | undefined>(chunk.slots).fill(undefined);
  chunk.freeCount = chunk.slots;
  for (let slot = 0; slot < chunk.slots; slot += 1) chunk.free[slot] = chunk.slots - 1 - slot;
  candidates.push(chunk);
  return chunk;
}

function takeIdleChunk(): Chunk | undefined {
  for (const candidates of available) {
    const index = candidates.findIndex((chunk) => chunk.freeCount === chunk.slots);
    if (index >= 0) return candidates.splice(index, 1)[0];
  }
  return undefined;
}

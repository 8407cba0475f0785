import fc from 'fast-check';
import { allocate } from '../arena.ts';

/** Where a buffer is: in the arena, in an ordinary buffer, or in either at an address that no vector is aligned to. */
export type Place = 'arena' | 'arena, unaligned' | 'ordinary' | 'ordinary, unaligned';

export const anyPlace = fc.constantFrom<Place>('arena', 'arena, unaligned', 'ordinary', 'ordinary, unaligned');

/** A copy of `bytes` in a place. Buffers of the arena are not released: when it is full, ordinary ones follow. */
export function placed(place: Place, bytes: Uint8Array): Buffer {
  const shift = place.endsWith('unaligned') ? 5 : 0;
  const whole = place.startsWith('arena') ? allocate(bytes.length + shift) : Buffer.alloc(bytes.length + shift);
  const part = whole.subarray(shift);
  part.set(bytes);
  return part;
}

/** Bytes that look random and follow from the seed: shorter to shrink and quicker to make than arrays of bytes. */
export function bytesFrom(seed: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed | 1;
  for (let at = 0; at + 4 <= length; at += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeInt32LE(state, at);
  }
  return bytes;
}

export const anySeed = fc.integer({ min: 0, max: 0x7fffffff });

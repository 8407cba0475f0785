import type { Place } from '../records.ts';

const BITS = 7;
const RADIX = 2 ** BITS;

/** Places as one short string of bytes: for each slot drive, segment and offset as varints; drive 0 for a missing piece. */
export function packPlaces(places: readonly (Place | null)[]): Uint8Array {
  const bytes: number[] = [];
  for (const place of places) {
    pushVarint(bytes, place?.drive ?? 0);
    if (!place) continue;
    pushVarint(bytes, place.segment);
    pushVarint(bytes, place.offset);
  }
  return Uint8Array.from(bytes);
}

export function unpackPlaces(bytes: Uint8Array): (Place | null)[] {
  const places: (Place | null)[] = [];
  let at = 0;
  const next = (): number => {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++] ?? 0;
      value += (byte % RADIX) * scale;
      if (byte < RADIX) return value;
      scale *= RADIX;
    }
  };
  while (at < bytes.length) {
    const drive = next();
    places.push(drive === 0 ? null : { drive, segment: next(), offset: next() });
  }
  return places;
}

/** Arithmetic instead of shifts: offsets are larger than 32 bits. */
function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= RADIX) {
    bytes.push((rest % RADIX) + RADIX);
    rest = Math.floor(rest / RADIX);
  }
  bytes.push(rest);
}

export function samePlace(one: Place | null, other: Place | null): boolean {
  if (!one || !other) return one === other;
  return one.drive === other.drive && one.segment === other.segment && one.offset === other.offset;
}

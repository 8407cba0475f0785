import { timingSafeEqual } from 'node:crypto';

/** Takes as long for texts that differ in the first place as for texts that differ in the last. */
export function sameText(expected: string, given: string): boolean {
  if (expected.length !== given.length) return false;
  return timingSafeEqual(Buffer.from(expected, 'latin1'), Buffer.from(given, 'latin1'));
}

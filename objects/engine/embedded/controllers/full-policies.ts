import { ObjectError } from '@granary/storage/objects';

/** Policies that are nearly full take nothing new. */
export function refuseFull(full: readonly number[], policy: number): void {
  if (full.includes(policy)) throw new ObjectError('no-space', 'The storage policy is full.');
}

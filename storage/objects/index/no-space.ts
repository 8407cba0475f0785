import { isDatabaseFull } from '@granary/kernel/sqlite';
import { ObjectError } from '../errors.ts';

/** The error as it is, or what it means when the disk of the index is full. */
export function asNoSpace(error: unknown): unknown {
  return isDatabaseFull(error) ? noSpace(error) : error;
}

export function noSpace(cause?: unknown): ObjectError {
  return new ObjectError('no-space', 'The disk of the index is full.', { cause });
}

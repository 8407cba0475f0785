import { isDatabaseFull } from '../sqlite/index.ts';

/** A change was refused because the disk is full: none of it was written. */
export class DiskFullError extends Error {
  constructor(cause: unknown) {
    super('The disk is full', { cause });
    this.name = 'DiskFullError';
  }
}

/** The error, translated when the disk is full. */
export function asDiskFull(error: unknown): unknown {
  return isDatabaseFull(error) ? new DiskFullError(error) : error;
}

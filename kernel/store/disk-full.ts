import { isDatabaseFull } from '../sqlite/index.ts';

/** A change that did not fit on the disk: nothing of it was kept. */
export class DiskFullError extends Error {
  constructor(cause: unknown) {
    super('The disk is full', { cause });
    this.name = 'DiskFullError';
  }
}

/** The error as it is, or what it means when the disk is full. */
export function asDiskFull(error: unknown): unknown {
  return isDatabaseFull(error) ? new DiskFullError(error) : error;
}

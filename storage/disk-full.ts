import { constants } from 'node:os';

/** Node has no name for a quota that is used up, so it is told by its number. */
const NUMBERS = new Set([-constants.errno.ENOSPC, -constants.errno.EDQUOT]);

/** Whether a call of the system failed for want of room. */
export function isDiskFull(error: unknown): boolean {
  const { errno = 0 } = (error ?? {}) as NodeJS.ErrnoException;
  return NUMBERS.has(errno);
}

import { readFileSync } from 'node:fs';

const ASSUMED_LIMIT = 1024;
const UNLIMITED = 2 ** 20;

/** The limit of open files and sockets of this process. */
function openFilesMax(): number {
  try {
    const line = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    if (line) return line[1] === 'unlimited' ? UNLIMITED : Number(line[1]);
  } catch {
    // There is no such file outside Linux.
  }
  return ASSUMED_LIMIT;
}

/**
 * The connections a listener accepts: `most`, or less where the limit of open files is low. The shares of all listeners
 * of a process must leave descriptors for drives and databases: without any, accepting fails for all clients.
 */
export function connectionsMax({ most, share }: { readonly most: number; readonly share: number }): number {
  return Math.max(1, Math.min(most, Math.floor(openFilesMax() * share)));
}

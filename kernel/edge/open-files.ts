import { readFileSync } from 'node:fs';

const ASSUMED_LIMIT = 1024;
const UNLIMITED = 2 ** 20;

/** How many files and sockets this process may have open at once. */
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
 * How many connections a listener takes: `most`, or less where the process may not open enough files. The shares of
 * all listeners of a process must leave files for drives and databases: accepting fails for everybody once none is left.
 */
export function connectionsMax({ most, share }: { readonly most: number; readonly share: number }): number {
  return Math.max(1, Math.min(most, Math.floor(openFilesMax() * share)));
}

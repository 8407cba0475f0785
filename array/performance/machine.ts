import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';

export const processors = availableParallelism();

/** What this process and its children may use at most. */
export function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

const IOWAIT_FIELD = 4;
const FIELDS = 8;

/** How large a part of the processors' time was spent waiting for disks; 0 where the system does not report it. */
export class WaitingShare {
  #waiting = 0;
  #total = 0;

  /** Since it was last asked. */
  read(): number {
    const [waiting, total] = readTimes();
    const share = total > this.#total ? (waiting - this.#waiting) / (total - this.#total) : 0;
    this.#waiting = waiting;
    this.#total = total;
    return Math.min(Math.max(share, 0), 1);
  }
}

function readTimes(): [number, number] {
  try {
    const line = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0] ?? '';
    const times = line
      .trim()
      .split(/\s+/)
      .slice(1, 1 + FIELDS)
      .map(Number);
    return [times[IOWAIT_FIELD] ?? 0, times.reduce((sum, time) => sum + time, 0)];
  } catch {
    return [0, 0];
  }
}

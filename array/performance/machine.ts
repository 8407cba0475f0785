import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';

export const processors = availableParallelism();

/** What this process and its children may use at most. */
export function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

const IDLE_FIELD = 3;
const IOWAIT_FIELD = 4;
const FIELDS = 8;

interface MachineShares {
  /** Spent waiting for disks. */
  readonly waiting: number;
  readonly idle: number;
}

/** How large parts of all processors' time were spent waiting for disks, and idle; 0 where the system does not report it. */
export class MachineTimes {
  #last = readTimes();

  /** Since it was last asked. */
  read(): MachineShares {
    const before = this.#last;
    const now = readTimes();
    this.#last = now;
    const total = now.total - before.total;
    const share = (part: number) => (total > 0 ? Math.min(Math.max(part / total, 0), 1) : 0);
    return { waiting: share(now.waiting - before.waiting), idle: share(now.idle - before.idle) };
  }
}

function readTimes(): { readonly waiting: number; readonly idle: number; readonly total: number } {
  try {
    const line = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0] ?? '';
    const times = line
      .trim()
      .split(/\s+/)
      .slice(1, 1 + FIELDS)
      .map(Number);
    const total = times.reduce((sum, time) => sum + time, 0);
    return { waiting: times[IOWAIT_FIELD] ?? 0, idle: times[IDLE_FIELD] ?? 0, total };
  } catch {
    return { waiting: 0, idle: 0, total: 0 };
  }
}

import type { Outcome } from '../scsi/outcome.ts';
import type { IscsiTask } from './task.ts';

/** What a session has done so far. */
export interface Counters {
  commands: number;
  reads: number;
  writes: number;
  bytesRead: number;
  bytesWritten: number;
  readMilliseconds: number;
  writeMilliseconds: number;
}

export function newCounters(): Counters {
  return { commands: 0, reads: 0, writes: 0, bytesRead: 0, bytesWritten: 0, readMilliseconds: 0, writeMilliseconds: 0 };
}

/** Adds what a command that ended well has moved between the initiator and the medium. */
export function count(counters: Counters, task: IscsiTask, outcome: Outcome): void {
  if (task.operation?.readsMedium === true) {
    counters.reads++;
    counters.bytesRead += outcome.data?.length ?? 0;
    counters.readMilliseconds += performance.now() - task.arrivedMs;
  } else if (task.operation?.writes === true) {
    counters.writes++;
    counters.bytesWritten += task.data.length;
    counters.writeMilliseconds += performance.now() - task.arrivedMs;
  }
}

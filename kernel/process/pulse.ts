import { write } from 'node:fs';

/**
 * A pipe from an array process to its cloud that threads write to independently of the main thread. It shows the cloud
 * that the data path, which has a thread of its own, works while the main thread is busy. The variable says that the
 * pipe exists.
 */
export const PULSE_FD = 4;
export const PULSE_VARIABLE = 'GRANARY_PULSE';

const BEAT = Buffer.of(1);

/** Writes a heartbeat of the data path; to be called about every second while it serves. */
export function pulseWriter(): () => void {
  if (process.env[PULSE_VARIABLE] === undefined) return () => undefined;
  let isWriting = false;
  return () => {
    // One at a time: a cloud that does not read must not exhaust the thread pool.
    if (isWriting) return;
    isWriting = true;
    write(PULSE_FD, BEAT, () => {
      isWriting = false;
    });
  };
}

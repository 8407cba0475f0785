import { write } from 'node:fs';

/**
 * A pipe from an array process to its cloud that threads write to past the main thread. So the cloud sees that a data
 * path works that has a thread of its own, while the main thread is busy. The variable says that the pipe is there.
 */
export const PULSE_FD = 4;
export const PULSE_VARIABLE = 'GRANARY_PULSE';

const BEAT = Buffer.of(1);

/** Gives a sign of life of the data path; to be called every second or so while it serves. */
export function pulseWriter(): () => void {
  if (process.env[PULSE_VARIABLE] === undefined) return () => undefined;
  let isWriting = false;
  return () => {
    // Never two at once: a cloud that does not read must not use up the thread pool.
    if (isWriting) return;
    isWriting = true;
    write(PULSE_FD, BEAT, () => {
      isWriting = false;
    });
  };
}

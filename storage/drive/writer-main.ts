import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { ASKED, ASLEEP, DONE, SLOT_BYTES, SLOTS, type WriterRing } from './writer-ring.ts';

/** The writing thread: does what is in the ring, in order, and sleeps when there is nothing. */
const ring = workerData as WriterRing;
const bytes = Buffer.from(ring.bytes.buffer);
const UNKNOWN_PROBLEM = 1;

for (let next = 0; ;) {
  const asked = Atomics.load(ring.control, ASKED);
  if (next === asked) {
    Atomics.store(ring.control, ASLEEP, 1);
    Atomics.wait(ring.control, ASKED, asked);
    Atomics.store(ring.control, ASLEEP, 0);
    continue;
  }
  while (next !== asked) {
    write(next % SLOTS);
    next = (next + 1) & 0x7fffffff;
    Atomics.store(ring.control, DONE, next);
    Atomics.notify(ring.control, DONE);
  }
}

function write(slot: number): void {
  const length = ring.lengths[slot] ?? 0;
  const start = slot * SLOT_BYTES;
  try {
    for (let done = 0; done < length;) {
      done += writeSync(ring.files[slot] ?? -1, bytes, start + done, length - done, (ring.offsets[slot] ?? 0) + done);
    }
    ring.problems[slot] = 0;
  } catch (error) {
    ring.problems[slot] = Math.abs((error as NodeJS.ErrnoException).errno ?? UNKNOWN_PROBLEM);
  }
}

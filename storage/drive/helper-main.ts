import { constants } from 'node:os';
import { workerData } from 'node:worker_threads';
import { openKernels, type SharedKernels } from '../kernels/shared.ts';
import { HelperPieces, helperOrder } from './helper-pieces.ts';
import { ASKED, ASLEEP, COPIES_MAX, type HelperRing, NUMBER_MASK, PASSED, SLOTS } from './helper-ring.ts';

export interface HelperData {
  readonly ring: HelperRing;
  readonly shared: SharedKernels;
}

/**
 * The helper thread: executes the unclaimed pieces of the requests in the ring, in order, and sleeps when there are
 * none.
 */
const { ring, shared } = workerData as HelperData;
const pieces = new HelperPieces(helperOrder, ring, openKernels(shared), Buffer.from(shared.memory.buffer));
const SPIN_MS = 0.06;
const UNKNOWN_PROBLEM = constants.errno.EIO;

for (let next = 0; ;) {
  const asked = untilAsked(next);
  if (next === asked) {
    Atomics.store(ring.control, ASLEEP, 1);
    Atomics.wait(ring.control, ASKED, asked);
    Atomics.store(ring.control, ASLEEP, 0);
    continue;
  }
  while (next !== asked) {
    serve(next % SLOTS);
    next = (next + 1) & NUMBER_MASK;
    Atomics.store(ring.control, PASSED, next);
    Atomics.notify(ring.control, PASSED);
  }
}

/** Spins briefly before sleeping: the next request usually follows soon, and waking up takes longer than spinning. */
function untilAsked(next: number): number {
  const untilMs = performance.now() + SPIN_MS;
  let asked = Atomics.load(ring.control, ASKED);
  while (next === asked && performance.now() < untilMs) asked = Atomics.load(ring.control, ASKED);
  return asked;
}

function serve(slot: number): void {
  const record = (copy: number, milliseconds: number, error: Error | undefined): void => {
    const place = slot * COPIES_MAX + copy;
    ring.milliseconds[place] = (ring.milliseconds[place] ?? 0) + milliseconds;
    if (error) ring.problems[place] = Math.abs((error as NodeJS.ErrnoException).errno ?? UNKNOWN_PROBLEM);
  };
  for (let own = 0; ; own += 1) {
    const at = pieces.claim(slot, own);
    if (at < 0) return;
    pieces.carryOut(slot, at, 0, record);
    Atomics.add(ring.ended, slot, 1);
  }
}

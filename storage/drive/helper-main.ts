import { constants } from 'node:os';
import { workerData } from 'node:worker_threads';
import { openKernels, type SharedKernels } from '../kernels/shared.ts';
import { BLOCK_BYTES } from '../units.ts';
import { PIECE_BYTES, readWhole, writeWhole } from './file-pieces.ts';
import { ASKED, ASLEEP, DONE, READ, SLOTS, type HelperRing } from './helper-ring.ts';

export interface HelperData {
  readonly ring: HelperRing;
  readonly shared: SharedKernels;
}

/** The helping thread: does what is in the ring, in order, and sleeps when there is nothing. */
const { ring, shared } = workerData as HelperData;
const kernels = openKernels(shared);
const memory = Buffer.from(shared.memory.buffer);
const UNKNOWN_PROBLEM = constants.errno.EIO;
const SUM_BYTES = 4;

for (let next = 0; ;) {
  const asked = Atomics.load(ring.control, ASKED);
  if (next === asked) {
    Atomics.store(ring.control, ASLEEP, 1);
    Atomics.wait(ring.control, ASKED, asked);
    Atomics.store(ring.control, ASLEEP, 0);
    continue;
  }
  while (next !== asked) {
    serve(next % SLOTS);
    next = (next + 1) & 0x7fffffff;
    Atomics.store(ring.control, DONE, next);
    Atomics.notify(ring.control, DONE);
  }
}

function serve(slot: number): void {
  const startMs = performance.now();
  try {
    carryOut(slot);
    ring.problems[slot] = 0;
  } catch (error) {
    ring.problems[slot] = Math.abs((error as NodeJS.ErrnoException).errno ?? UNKNOWN_PROBLEM);
  }
  ring.milliseconds[slot] = performance.now() - startMs;
}

/** Piece by piece: each is summed while it is in this processor's cache. */
function carryOut(slot: number): void {
  const [file = -1, offset = 0, kind = READ, sums = 0] = [
    ring.files[slot],
    ring.offsets[slot],
    ring.kinds[slot],
    ring.sums[slot],
  ];
  const [address = 0, length = 0] = [ring.addresses[slot], ring.lengths[slot]];
  for (let at = 0; at < length; at += PIECE_BYTES) {
    const piece = memory.subarray(address + at, address + Math.min(length, at + PIECE_BYTES));
    if (kind === READ) readWhole(file, piece, offset + at);
    else writeWhole(file, piece, offset + at);
    if (sums !== 0) kernels.checksums(address + at, piece.length / BLOCK_BYTES, sums + (at / BLOCK_BYTES) * SUM_BYTES);
  }
}

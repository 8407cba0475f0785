import { setImmediate } from 'node:timers/promises';
import type { BillLine } from './bill.ts';

/** Lines taken between two turns of the event loop: other requests go on while a long bill is added up. */
const LINES_PER_TURN = 250;

export async function takeInTurns(lines: Iterable<BillLine>, take: (line: BillLine) => void): Promise<void> {
  let taken = 0;
  for (const line of lines) {
    take(line);
    taken += 1;
    if (taken % LINES_PER_TURN === 0) await setImmediate();
  }
}

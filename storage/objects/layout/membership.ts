import type { DriveRow } from './drive-catalogue.ts';

/**
 * Which drives a policy's partitions are placed on. Drives that leave or were lost count only as far as there would be
 * too few without them: a slot is better off on a drive that should go than on none.
 */
export function membersOf(
  drives: readonly DriveRow[],
  slots: number,
  isLive: (drive: number) => boolean,
  inRing: ReadonlySet<number>,
): DriveRow[] {
  const members = drives.filter(({ stage }) => stage === 'joined');
  const spare = drives.filter(({ stage, number }) => (stage === 'leaving' || stage === 'lost') && inRing.has(number));
  spare.sort((a, b) => Number(isLive(b.number)) - Number(isLive(a.number)) || a.number - b.number);
  while (members.length < slots) {
    const next = spare.shift();
    if (!next) break;
    members.push(next);
  }
  return members;
}

/** The drives that join in the next step: a share of those that came together, at least one. */
export function nextToJoin(waiting: readonly DriveRow[], percent: number): DriveRow[] {
  const [first] = waiting;
  if (!first) return [];
  const share = Math.ceil((Math.max(first.batch, waiting.length) * Math.min(percent, 100)) / 100);
  return waiting.slice(0, Math.max(share, 1));
}

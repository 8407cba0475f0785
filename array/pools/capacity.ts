import { capacityText, fail, GB, MB, wholeGigabytes } from '@granary/kernel';
import { freeBytesIn, type GroupShare, type GroupSpace } from '../raid-groups/group-space.ts';

/**
 * Takes so much of what is free in the groups, of each in proportion to what it has. When nothing is said, all whole GB
 * of it: then the pool has what its record shows. Less than 1 GB is taken as it is.
 */
export function shareOut(
  groups: readonly GroupSpace[],
  wantedMb: number | undefined,
  allocationBytes: number,
): GroupShare[] {
  const rooms = groups.map((group) => freeBytesIn(group, allocationBytes));
  const room = sum(rooms);
  const wanted = wantedMb === undefined ? wholeGbOf(room) : wantedMb * MB;
  if (wanted === 0 || wanted > room) throw refusal(groups, room, wantedMb);
  const parts = inProportion(
    wanted / allocationBytes,
    rooms.map((bytes) => bytes / allocationBytes),
  );
  return groups.map(({ name: group }, index) => ({ group, bytes: (parts[index] as number) * allocationBytes }));
}

export function sharedBytes(shares: readonly GroupShare[]): number {
  return sum(shares.map(({ bytes }) => bytes));
}

/** Whole numbers that add up to `amount`, none above its weight. `amount` is at most the sum of the weights. */
function inProportion(amount: number, weights: readonly number[]): number[] {
  const total = BigInt(sum(weights));
  let upTo = 0n;
  let given = 0n;
  return weights.map((weight) => {
    upTo += BigInt(weight);
    const due = (BigInt(amount) * upTo) / total;
    const part = due - given;
    given = due;
    return Number(part);
  });
}

function refusal(groups: readonly GroupSpace[], room: number, wantedMb: number | undefined): Error {
  const names = groups.map(({ name }) => name).join(', ');
  const asked = wantedMb === undefined ? '' : `, ${capacityText(wantedMb * MB)} were asked for`;
  const less = room === 0 ? '' : 'ask for less or ';
  return fail('groups_too_full', {
    groups: names,
    have: groups.length === 1 ? 'has' : 'have',
    free: capacityText(room),
    asked,
    less,
  });
}

function wholeGbOf(bytes: number): number {
  return bytes < GB ? bytes : wholeGigabytes(bytes) * GB;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

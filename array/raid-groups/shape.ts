import { counted } from '@granary/contract';
import { badParameter } from '@granary/kernel';
import type { Protection } from '../engine/hardware.ts';

interface Wanted<T> {
  readonly protection: Protection;
  readonly drives: readonly T[];
  /** How many of them hold data; the others are hot spares. */
  readonly width?: number | undefined;
  readonly hotSpare: boolean;
}

interface Shape<T> {
  readonly members: readonly T[];
  readonly spares: readonly T[];
}

export const SPARES_MAX = 4;
const WIDTHS = { RAID1: { least: 2, most: 3 }, RAID6: { least: 4, most: 10 } } as const;

/** Which of the drives hold data and which stand by: the last ones do. */
export function shapeOf<T>({ protection, drives, width, hotSpare }: Wanted<T>): Shape<T> {
  const count = drives.length;
  const members = width ?? (hotSpare ? count - 1 : count);
  if (members > count) throw badParameter('protection_width', `must not be above ${count}, the number of drives`);
  if (hotSpare && members === count)
    throw badParameter('protection_width', `must be below ${count}, the number of drives, to leave one as a hot spare`);
  if (!hotSpare && members < count)
    throw badParameter('protection_width', `must be ${count}, the number of drives, unless hot_spare is YES`);
  const { least, most } = WIDTHS[protection];
  if (members < least || members > most) {
    const takes = `${protection} takes ${least} ${most === least + 1 ? 'or' : 'to'} ${most} drives`;
    throw width === undefined
      ? badParameter('disk', `names ${counted(members, 'drives')}${hotSpare ? ' besides the hot spare' : ''}: ${takes}`)
      : badParameter('protection_width', `must not be ${members}: ${takes}`);
  }
  if (count - members > SPARES_MAX)
    throw badParameter('disk', `leaves ${count - members} hot spares; a RAID group has at most ${SPARES_MAX}`);
  return { members: drives.slice(0, members), spares: drives.slice(members) };
}

/** How many of its drives a group can do without. */
export function mayMiss({ protection, width }: { readonly protection: Protection; readonly width: number }): number {
  return protection === 'RAID1' ? width - 1 : 2;
}

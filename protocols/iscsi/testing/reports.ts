import type { Sense } from './sense.ts';

const REPORTS_MAX = 100;

export interface UnitAttention {
  readonly lun: number;
  readonly sense: Sense;
}

export interface AsyncMessage {
  readonly event: number;
  readonly lun: number;
  readonly sense: Sense | undefined;
}

/** Keeps the newest hundred. */
export function report<Item>(list: Item[], item: Item): void {
  list.push(item);
  if (list.length > REPORTS_MAX) list.shift();
}

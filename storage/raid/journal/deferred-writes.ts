import { isNoSpace } from '../../errors.ts';
import type { GroupCore } from '../core.ts';
import type { ShardWrite } from './journal-record.ts';
import type { StripeRows } from '../parity/stripe-rows.ts';

/**
 * Writes that are in the journal and that a full disk refused in their places, or in a copy of the journal. With a
 * member missing its data can be worked out only from a stripe that is all new or all old, so they stay owed until they
 * are made in full. No other write goes through the journal meanwhile, which bounds what is kept here by what can be
 * under way at once.
 */
export class DeferredWrites {
  readonly #core: GroupCore;
  readonly #writes = new Map<number, ShardWrite[]>();

  constructor(core: GroupCore) {
    this.#core = core;
  }

  get size(): number {
    return this.#writes.size;
  }

  regions(): number[] {
    return [...this.#writes.keys()];
  }

  has(region: number): boolean {
    return this.#writes.has(region);
  }

  /** Takes copies: the caller's buffers go back to where they came from. */
  keep(row: number, writes: readonly ShardWrite[]): void {
    const region = this.#core.regionOf(row);
    const kept = this.#writes.get(region) ?? [];
    for (const write of writes) kept.push({ ...write, data: write.data && Buffer.from(write.data) });
    this.#writes.set(region, kept);
  }

  /** Makes them, with nobody else in the region; throws when there is no room yet. */
  async apply(region: number): Promise<void> {
    const { membership, checksums, journal } = this.#core;
    await journal.complete();
    for (const { slot, row, data, entries } of this.#writes.get(region) ?? []) {
      for (const member of [membership.members[slot], membership.successors[slot]]) {
        if (member?.holds(row) !== true) continue;
        if (data !== undefined) await this.#core.writeRows(member, row, data);
        await checksums.put(member, row, entries);
      }
    }
    this.#writes.delete(region);
  }

  /** Lays them over what was read, so that the stripe is as it will be. */
  overlay(rows: StripeRows): void {
    for (const write of this.#writes.get(this.#core.regionOf(rows.row)) ?? []) {
      const shard = rows.shards.findIndex((_, candidate) => rows.slotOf(candidate) === write.slot);
      for (let index = 0; index < write.count; index += 1) {
        const at = write.row + index - rows.row;
        if (at < 0 || at >= rows.count || rows.stateOf(shard, at) === 'absent') continue;
        rows.replace(shard, at, write, index);
      }
    }
  }

  clear(): void {
    this.#writes.clear();
  }
}

/** Mends as far as there is room: what was read is right without it. */
export async function ifThereIsSpace(mending: Promise<unknown>): Promise<void> {
  try {
    await mending;
  } catch (error) {
    if (!isNoSpace(error)) throw error;
  }
}

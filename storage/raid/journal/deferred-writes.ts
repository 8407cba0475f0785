import { isNoSpace } from '../../errors.ts';
import type { ChecksumCache } from '../checksums/checksums.ts';
import type { ShardWrite } from './journal-record.ts';
import type { GroupMembership } from '../members/group-membership.ts';
import type { Member } from '../members/member.ts';
import type { StripeRows } from '../parity/stripe-rows.ts';

/** Where deferred writes are applied. */
export interface RowTarget {
  readonly membership: GroupMembership;
  readonly checksums: ChecksumCache;
  readonly journal: { complete(): Promise<void> };
  regionOf(row: number): number;
  writeRows(member: Member, row: number, from: Buffer): Promise<boolean>;
}

/**
 * Writes that are in the journal and that a full disk refused in place, or in a copy of the journal. With a member
 * missing, its data can be reconstructed only from a stripe that is entirely new or entirely old, so these writes stay
 * deferred until all of them are applied. No other write goes through the journal meanwhile, which bounds their number.
 */
export class DeferredWrites {
  readonly #core: RowTarget;
  readonly #writes = new Map<number, ShardWrite[]>();

  constructor(core: RowTarget) {
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

  /** Copies the data: the caller reuses its buffers. */
  keep(row: number, writes: readonly ShardWrite[]): void {
    const region = this.#core.regionOf(row);
    const kept = this.#writes.get(region) ?? [];
    for (const write of writes) kept.push({ ...write, data: write.data && Buffer.from(write.data) });
    this.#writes.set(region, kept);
  }

  /** Applies them while the caller holds the region exclusively; throws when the disk is still full. */
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

  /** Lays them over rows that were read, so that the stripe is as it will be. */
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

/** Repairs as far as there is space: the data that was read is right without it. */
export async function ifThereIsSpace(mending: Promise<unknown>): Promise<void> {
  try {
    await mending;
  } catch (error) {
    if (!isNoSpace(error)) throw error;
  }
}

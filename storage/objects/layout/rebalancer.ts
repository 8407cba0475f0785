import { type DriveRow, liveOn, type RingRow, saveDrive, saveRing } from './drive-catalogue.ts';
import type { LayoutState } from './layout-state.ts';
import { membersOf, nextToJoin } from './membership.ts';
import { partitionsFor, placeRing, placeWhole, sameRing } from './ring.ts';
import type { RepairQueue } from '../repair/repair-queue.ts';
import type { DriveRegistry } from './drive-registry.ts';

export interface RebalancerOptions {
  readonly state: LayoutState;
  readonly registry: DriveRegistry;
  readonly expansionPercent: () => number;
  readonly queue: Pick<RepairQueue, 'pending' | 'resetRebuilt'>;
}

/** Brings rings in line with the drives there are, a step at a time, and says how far repair has come. */
export class Rebalancer {
  readonly #options: RebalancerOptions;
  /** By policy: partitions that were to be repaired since it was last at rest. */
  readonly #bouts = new Map<number, Set<number>>();

  constructor(options: RebalancerOptions) {
    this.#options = options;
  }

  async advance(): Promise<void> {
    for (const { index } of this.#options.state.policies) {
      await this.#advancePolicy(index);
      await this.#recordProgress(index);
      await this.#letGo(index);
    }
  }

  progress(policy: number): { readonly done: number; readonly total: number } | null {
    const bout = this.#bouts.get(policy);
    if (!bout || bout.size === 0) return null;
    const open = this.#options.queue.pending(policy).filter((partition) => bout.has(partition)).length;
    return { done: bout.size - open, total: bout.size };
  }

  async #advancePolicy(policy: number): Promise<void> {
    const { state } = this.#options;
    const ring = state.ring(policy);
    if (!ring) return this.#begin(policy);
    const isAtRest = this.#options.queue.pending(policy).length === 0;
    const members = this.#membersOf(policy, ring);
    const numbers = new Set(members.map(({ number }) => number));
    const isForced = [...new Set(ring.drives)].some((drive) => !numbers.has(drive) && drive !== 0);
    if (!isAtRest && !isForced) return;
    if (await this.#place(ring, members, [])) return;
    const joining = isAtRest ? this.#joining(policy) : [];
    if (joining.length > 0) await this.#place(ring, [...members, ...joining], joining);
  }

  /** The first drives of a policy join at once, when there is one for each slot. */
  async #begin(policy: number): Promise<void> {
    const { state } = this.#options;
    const slots = state.slotsOf(policy);
    const drives = state.drivesOf(policy).filter(({ stage, number }) => stage === 'waiting' && state.isLive(number));
    if (drives.length < slots) return;
    const partitions = partitionsFor(drives.length);
    const placed = placeWhole({ partitions, slots, drives, present: null });
    await this.#join({ policy, version: 1, partitions, slots, drives: placed, rebalancedAt: state.now() }, drives);
  }

  #membersOf(policy: number, ring: RingRow): DriveRow[] {
    const { state } = this.#options;
    const isLive = (drive: number) => state.isLive(drive);
    return membersOf(state.drivesOf(policy), ring.slots, isLive, new Set(ring.drives));
  }

  #joining(policy: number): DriveRow[] {
    const { state, expansionPercent } = this.#options;
    const waiting = state.drivesOf(policy).filter(({ stage, number }) => stage === 'waiting' && state.isLive(number));
    return nextToJoin(waiting, expansionPercent());
  }

  /** Whether anything moved, or joined. */
  async #place(ring: RingRow, members: readonly DriveRow[], joining: readonly DriveRow[]): Promise<boolean> {
    const { partitions, slots } = ring;
    const drives = placeRing({ partitions, slots, drives: members, present: ring.drives });
    if (joining.length === 0 && sameRing(ring.drives, drives)) return false;
    await this.#join({ ...ring, version: ring.version + 1, drives }, joining);
    return true;
  }

  async #join(ring: RingRow, joining: readonly DriveRow[]): Promise<void> {
    const { state } = this.#options;
    await state.placeAnew(ring.policy, ring, (db) => {
      for (const row of joining) saveDrive(db, { ...row, stage: 'joined', batch: 0 });
    });
    const policy = state.policy(ring.policy).name;
    for (const { uuid } of joining) state.publish({ kind: 'drive-joined', uuid, policy });
  }

  async #recordProgress(policy: number): Promise<void> {
    const { state } = this.#options;
    const pending = this.#options.queue.pending(policy);
    const bout = this.#bouts.get(policy) ?? new Set<number>();
    this.#bouts.set(policy, bout);
    for (const partition of pending) bout.add(partition);
    if (pending.length > 0) return;
    const rebuilt = this.#options.queue.resetRebuilt(policy);
    if (bout.size === 0 && rebuilt === 0) return;
    bout.clear();
    if (rebuilt > 0) state.publish({ kind: 'repaired', policy: state.policy(policy).name, rebuilt });
    const ring = state.ring(policy);
    if (!ring) return;
    await state.change((db) => saveRing(db, { ...ring, rebalancedAt: state.now() }));
    state.reload();
  }

  /** Drives without live pieces have left; those that the configuration does not name are then dropped. */
  async #letGo(policy: number): Promise<void> {
    const { state, registry } = this.#options;
    const inRing = new Set(state.ring(policy)?.drives ?? []);
    const isAtRest = this.#options.queue.pending(policy).length === 0;
    for (const row of state.drivesOf(policy)) {
      if (inRing.has(row.number) || row.stage === 'joined' || row.stage === 'waiting') continue;
      const isEmpty = isAtRest && liveOn(state.reader, row.number) === 0;
      if (row.stage === 'leaving' && isEmpty) {
        if (!(await registry.leave(row))) continue;
        state.publish({ kind: 'drive-left', uuid: row.uuid, policy: state.policy(policy).name });
      }
      const isGone = isEmpty || (isAtRest && !state.isLive(row.number));
      if (isGone && !registry.isWanted(row)) await registry.drop(row);
    }
  }
}

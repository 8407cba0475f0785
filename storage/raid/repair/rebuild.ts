import { isNoSpace } from '../../errors.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { BATCH_ROWS } from '../layout.ts';
import type { GroupCore } from '../core.ts';
import type { Member } from '../members/member.ts';

/** Regions that may have to be filled again after a crash. */
const REGIONS_PER_RECORD = 64;

/** Fills members that lack data: spares, replacements, and drives that were offline for a while. */
export class Rebuilder {
  readonly #core: GroupCore;
  readonly #running = new Map<Member, Promise<void>>();

  constructor(core: GroupCore) {
    this.#core = core;
  }

  /** Starts a rebuild for every member that lacks data and has none running. */
  start(): void {
    const { members, successors } = this.#core.membership;
    for (const member of [...members, ...successors]) {
      if (member?.state !== 'rebuilding' || this.#running.has(member)) continue;
      const { slot, drive } = member;
      this.#core.emit({ type: 'rebuild-started', slot, driveId: drive.id });
      const running = this.#run(member)
        // The group was lost or closed, or the member failed again: the next start begins again.
        .catch((error: unknown) => {
          if (isNoSpace(error)) this.#core.retryLater('rebuild', error);
        })
        .finally(() => this.#running.delete(member));
      this.#running.set(member, running);
    }
  }

  async finished(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** The filled fraction of the members being rebuilt; undefined when there are none. */
  progress(): number | undefined {
    const targets = [...this.#running.keys()].filter((member) => member.pending !== undefined);
    if (targets.length === 0) return undefined;
    const left = targets.reduce((total, member) => total + (member.pending?.size ?? 0), 0);
    return 1 - left / (targets.length * this.#core.layout.regions);
  }

  async #run(member: Member): Promise<void> {
    // Writes that were refused meanwhile leave more regions to fill.
    while (member.state === 'rebuilding') {
      if (!(await this.#fill(member))) return;
      await this.#finish(member);
    }
  }

  async #fill(member: Member): Promise<boolean> {
    let sinceRecord = 0;
    const { pending } = member;
    if (pending === undefined) return false;
    for (let region = pending.next(0); region !== -1; region = pending.next(0)) {
      if (!(await this.#fillRegion(member, region))) return false;
      sinceRecord += 1;
      if (sinceRecord < REGIONS_PER_RECORD || member.isPartial) continue;
      sinceRecord = 0;
      const cursor = region + 1;
      await this.#core.membership.change(() => {
        member.cursor = cursor;
      });
    }
    return true;
  }

  async #fillRegion(member: Member, region: number): Promise<boolean> {
    const { first, end } = this.#core.rowsOf(region);
    member.fillingRow = first;
    member.fillingRegion = region;
    if (await this.#core.isUnused(region)) await this.#fillRows(member, first, end - first);
    while (member.fillingRow < end && member.state === 'rebuilding') {
      const count = Math.min(BATCH_ROWS, end - member.fillingRow);
      await this.#core.throttle.pace(count * BLOCK_BYTES);
      await this.#fillRows(member, member.fillingRow, count);
    }
    if (member.state !== 'rebuilding') return false;
    member.pending?.delete(region);
    member.fillingRegion = -1;
    return true;
  }

  async #fillRows(member: Member, row: number, count: number): Promise<void> {
    const range = await this.#core.begin(row, count, false);
    try {
      if (member.state !== 'rebuilding') return;
      const isWhole = count > BATCH_ROWS;
      // The region may have been written since the check.
      if (isWhole && !(await this.#core.isUnused(this.#core.regionOf(row)))) return;
      if (isWhole) await this.#core.checksums.restore(member, row, new Uint32Array(count));
      else await this.#core.strategy.fill(member, row, count);
      if (member.fillingRow === row) member.fillingRow = row + count;
    } finally {
      this.#core.end(range);
    }
  }

  async #finish(member: Member): Promise<void> {
    const { membership } = this.#core;
    const { slot, drive } = member;
    let replaced: Member | undefined;
    await membership.change(() => {
      if (member.state !== 'rebuilding' || (member.pending?.size ?? 0) > 0) return;
      member.complete();
      if (membership.successors[slot] !== member) return;
      replaced = membership.members[slot];
      membership.members[slot] = member;
      membership.successors[slot] = undefined;
    });
    if (replaced !== undefined) await this.#core.retire(replaced);
    if (member.state === 'active') this.#core.emit({ type: 'rebuild-finished', slot, driveId: drive.id });
  }
}

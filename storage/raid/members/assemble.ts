import type { Drive } from '../../drive/drive.ts';
import { StorageError } from '../../errors.ts';
import type { GroupCore } from '../core.ts';
import { layOut } from '../layout.ts';
import type { Layout } from '../layout.ts';
import { AbsentDrive, Member } from './member.ts';
import { RegionSet } from '../intent/region-set.ts';
import { readSuperblock } from './superblock.ts';
import type { FoundSuperblock, MemberRecord, Superblock } from './superblock.ts';

/** Reads the superblocks of the drives. Drives that fail or have no superblock are left out. */
export async function identify(drives: readonly Drive[]): Promise<FoundSuperblock[]> {
  const found = await Promise.all(drives.map((drive) => readSuperblock(drive).catch(() => undefined)));
  return found.filter((entry) => entry !== undefined);
}

/** The authoritative superblock: the one with the highest event count. */
export function newest(found: readonly FoundSuperblock[]): Superblock | undefined {
  return found
    .map(({ superblock }) => superblock)
    .toSorted((left, right) => right.events - left.events || right.sequence - left.sequence)[0];
}

export function layoutOf(superblock: Superblock): Layout {
  const { format = 1, level, stripeBytes, memberBytes, members } = superblock;
  return layOut({ format, level, stripeBytes, memberBytes, memberCount: members.length });
}

/** Assembles a group from its drives. Leaves it failed, and the drives untouched, when too many are missing. */
export async function assemble(
  core: GroupCore,
  found: readonly FoundSuperblock[],
  drives: readonly Drive[],
): Promise<void> {
  const right = newest(found);
  if (right === undefined)
    throw new StorageError('not-found', `No drive of group ${core.id} was found; bring them back.`);
  await core.membership.hold(() => new Assembly(core, right, found, drives).run());
}

class Assembly {
  readonly #core: GroupCore;
  readonly #right: Superblock;
  readonly #found: ReadonlyMap<string, FoundSuperblock>;
  readonly #drives: readonly Drive[];
  readonly #returned: Member[] = [];
  #isNewlyMissing = false;

  constructor(core: GroupCore, right: Superblock, found: readonly FoundSuperblock[], drives: readonly Drive[]) {
    this.#core = core;
    this.#right = right;
    this.#found = new Map(found.map((entry) => [entry.superblock.uuid, entry]));
    this.#drives = drives;
  }

  async run(): Promise<void> {
    const { membership, unsynced, intent, journal, layout } = this.#core;
    await this.#core.drain();
    // The journal has them as well.
    this.#core.resyncs.deferred.clear();
    membership.events = this.#right.events;
    membership.sequence = this.#right.sequence;
    membership.recordedEvents = this.#right.events;
    this.#placeMembers();
    this.#placeSpares();
    this.#reportUnknownDrives();
    if (!membership.assess()) return;
    await this.#loadIntent();
    if (membership.failure !== undefined) return;
    this.#placeReturned();
    unsynced.clear();
    if (!this.#isClean()) {
      unsynced.addAll(intent.marked());
      // The resync covers members only; the data of a successor there may be older.
      for (const successor of membership.successors) successor?.pending?.addAll(intent.marked());
    }
    // Before checksums are read: they are classified by it, because after a crash their pages may be one generation
    // behind.
    await journal.replay();
    this.#core.wasMissing = missingOnRecord(this.#right, intent.marked(), layout.regionRows);
    membership.isClean = false;
    // The resync of parity depends on which members were present at the crash, so it precedes recording newly missing
    // ones.
    if (this.#isNewlyMissing) {
      membership.record();
      return;
    }
    membership.events += 1;
    await intent.rewrite();
    await membership.persist();
  }

  #placeMembers(): void {
    const { membership, checksums, layout } = this.#core;
    for (const member of [...membership.members, ...membership.successors]) {
      if (member === undefined) continue;
      checksums.drop(member);
      // Operations that still use the old object must stop.
      member.state = 'failed';
    }
    checksums.reset();
    membership.members.length = 0;
    membership.successors.length = 0;
    for (const [slot, record] of this.#right.members.entries()) {
      membership.members.push(this.#placeMember(slot, record));
      const { successor } = record;
      const found = successor && this.#found.get(successor.uuid);
      if (successor === undefined || found === undefined) {
        membership.successors.push(undefined);
        continue;
      }
      const member = this.#memberAt(slot, successor.uuid, found.drive, found.slot);
      member.startFilling(RegionSet.from(layout.regions, successor.rebuiltRegions), false);
      membership.successors.push(member);
    }
  }

  #placeMember(slot: number, record: MemberRecord): Member {
    const found = this.#found.get(record.uuid);
    const drive = found?.drive ?? new AbsentDrive(record.driveId);
    const member = this.#memberAt(slot, record.uuid, drive, found?.slot ?? 1);
    if (record.state === 'failed' || found === undefined) {
      member.state = 'failed';
      member.isIncomplete = record.incomplete ?? record.state === 'rebuilding';
      member.failedAt = record.failedAt ?? this.#right.events + 1;
      if (record.state !== 'failed') this.#recordMissing(member);
      else if (found !== undefined) this.#returned.push(member);
      return member;
    }
    if (record.state === 'rebuilding') {
      const { regions } = this.#core.layout;
      const isPartial = record.rebuiltRegions === undefined;
      member.startFilling(RegionSet.from(regions, record.rebuiltRegions ?? 0), isPartial);
    }
    return member;
  }

  #memberAt(slot: number, uuid: string, drive: Drive, superblockSlot: number): Member {
    return new Member({ slot, uuid, drive, superblockSlot, regionRows: this.#core.layout.regionRows });
  }

  #recordMissing({ slot, drive }: Member): void {
    this.#isNewlyMissing = true;
    this.#core.emit({ type: 'drive-failed', slot, driveId: drive.id, reason: 'it was not found' });
  }

  #placeSpares(): void {
    const { spares } = this.#core.membership;
    spares.length = 0;
    for (const { uuid, driveId } of this.#right.spares) {
      const found = this.#found.get(uuid);
      if (found !== undefined) spares.push({ uuid, drive: found.drive, superblockSlot: found.slot });
      else this.#core.emit({ type: 'spare-failed', driveId, reason: 'it was not found' });
    }
  }

  /**
   * The log is the union of the logs of all good members; drives that return may have marked more regions on their own.
   */
  async #loadIntent(): Promise<void> {
    const { membership, intent } = this.#core;
    for (const member of [...membership.writers, ...this.#returned]) {
      try {
        await intent.load(member);
      } catch (error) {
        membership.fail(member, error);
      }
    }
    intent.markUnreadable();
    for (const member of membership.members) {
      if (member.state === 'rebuilding' && member.isPartial) member.startFilling(intent.marked(), true);
    }
  }

  #placeReturned(): void {
    const { membership, emit } = this.#core;
    for (const member of this.#returned) {
      const found = this.#found.get(member.uuid);
      if (found === undefined) continue;
      rejoin(this.#core, member, found.superblock);
      emit({ type: 'drive-returned', slot: member.slot, driveId: member.drive.id });
    }
    membership.refresh();
  }

  #reportUnknownDrives(): void {
    const { membership, emit } = this.#core;
    const places = [...membership.members, ...membership.successors, ...membership.spares];
    const known = new Set(places.map((place) => place?.drive));
    for (const drive of this.#drives) {
      if (known.has(drive)) continue;
      emit({ type: 'drive-ignored', driveId: drive.id, reason: 'it is no member of this group (any more)' });
    }
  }

  #isClean(): boolean {
    return this.#core.membership.readers.every((member) => {
      const superblock = this.#found.get(member.uuid)?.superblock;
      return superblock?.clean === true && superblock.sequence === this.#right.sequence;
    });
  }
}

/**
 * A returning drive lacks the regions that the log marks, because nothing is cleared while a member is missing. If it
 * was incomplete when it left, or has recorded events of its own since, it is filled from the start.
 */
export function rejoin(core: GroupCore, member: Member, superblock: Superblock): void {
  const isPartial = !member.isIncomplete && superblock.events < (member.failedAt ?? 0);
  const pending = isPartial ? core.intent.marked() : RegionSet.from(core.layout.regions, 0);
  member.startFilling(pending, isPartial);
}

function missingOnRecord(
  right: Superblock,
  marked: RegionSet,
  regionRows: number,
): (slot: number, row: number) => boolean {
  return (slot, row) => {
    const record = right.members[slot];
    if (record === undefined || record.state === 'active') return false;
    if (record.state === 'failed') return true;
    const region = Math.floor(row / regionRows);
    return record.rebuiltRegions === undefined ? marked.has(region) : region >= record.rebuiltRegions;
  };
}

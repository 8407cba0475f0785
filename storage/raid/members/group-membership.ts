import { randomUUID } from 'node:crypto';
import { allDone } from '../../all-done.ts';
import type { Drive } from '../../drive/drive.ts';
import { isNoSpace, StorageError } from '../../errors.ts';
import type { Layout } from '../layout.ts';
import { Member } from './member.ts';
import type { MembershipHooks } from './membership-hooks.ts';
import type { MembershipRecord } from '../options.ts';
import { RegionSet } from '../intent/region-set.ts';
import { writeSuperblock } from './superblock.ts';
import type { MemberRecord, Superblock } from './superblock.ts';

export interface Spare {
  readonly uuid: string;
  readonly drive: Drive;
  superblockSlot: number;
}

const ROUNDS_MAX = 32;

/**
 * The members of a group. Members change only while no write is in flight, and the change is recorded on all remaining
 * members before the next write: so a drive that missed a write is always distinguishable from one that did not.
 */
export class GroupMembership {
  readonly members: Member[] = [];
  /** For each slot, the drive that is being filled to replace its member. */
  readonly successors: (Member | undefined)[] = [];
  readonly spares: Spare[] = [];
  /** The members that hold all data, and those that receive writes. */
  readers: readonly Member[] = [];
  writers: readonly Member[] = [];
  events = 0;
  /** The highest event count that any drive has recorded. */
  recordedEvents = 0;
  sequence = 0;
  isClean = false;
  failure: StorageError | undefined;
  committing: Promise<void> | undefined;
  /** The membership has changed and the disk is too full to record it. The next operation tries again. */
  stalled: StorageError | undefined;
  /** Called when a change is recorded. */
  onRecorded: () => void = () => undefined;
  readonly #groupId: string;
  readonly #layout: Layout;
  readonly #hooks: MembershipHooks;
  readonly #changes: { readonly make: () => void; readonly refuse: (error: StorageError) => void }[] = [];
  #again = false;
  #isUnrecorded = false;
  /** The last superblocks did not reach all drives, because the disk was full. */
  #isRefused = false;

  constructor(groupId: string, layout: Layout, hooks: MembershipHooks) {
    this.#groupId = groupId;
    this.#layout = layout;
    this.#hooks = hooks;
  }

  get isComplete(): boolean {
    return this.members.every((member) => member.state === 'active');
  }

  /** Recomputes what is derived from the members' states. */
  refresh(): void {
    const all = [...this.members, ...this.successors.filter((member) => member !== undefined)];
    this.readers = this.members.filter((member) => member.state === 'active');
    this.writers = all.filter((member) => member.isAlive);
  }

  /** Fails a member that returned an error. The caller continues with the others and then awaits `whenRecorded`. */
  fail(member: Member, error: unknown): void {
    if (!member.isAlive || this.failure !== undefined) return;
    const reason = error instanceof Error ? error.message : String(error);
    member.isIncomplete = member.state === 'rebuilding';
    member.state = 'failed';
    member.failedAt = this.events + 1;
    this.#hooks.dropPages(member);
    this.#hooks.onEvent({ type: 'drive-failed', slot: member.slot, driveId: member.drive.id, reason });
    if (this.successors[member.slot] === member) this.successors[member.slot] = undefined;
    this.refresh();
    this.#isUnrecorded = true;
    if (this.#missing().length > this.#layout.redundancy) this.#failGroup();
    else this.#commitMembership();
  }

  /**
   * Applies a change while no write is in flight; it is recorded when this resolves. On a full disk it is not applied.
   */
  async change(make: () => void): Promise<void> {
    const refused: StorageError[] = [];
    this.#changes.push({ make, refuse: (error) => refused.push(error) });
    this.#commitMembership();
    await this.whenRecorded();
    for (const error of refused) throw error;
  }

  /** Waits until every change is recorded, or the group is lost. */
  async idle(): Promise<void> {
    while (this.committing !== undefined) await this.committing;
  }

  /** The same, but throws when the group is lost. */
  async whenRecorded(): Promise<void> {
    await this.idle();
    if (this.stalled !== undefined) this.#commitMembership();
    await this.idle();
    const refusal = this.failure ?? this.stalled;
    if (refusal !== undefined) throw refusal;
  }

  /** Checks that there are enough members; if not, the group refuses all operations and leaves the drives untouched. */
  assess(): boolean {
    this.failure = undefined;
    this.stalled = undefined;
    this.refresh();
    if (this.#missing().length <= this.#layout.redundancy) return true;
    this.#failGroup();
    return false;
  }

  /** Blocks all operations while the group is assembled; failures meanwhile are recorded at the end. */
  async hold(work: () => Promise<void>): Promise<void> {
    await this.idle();
    await this.#commitAfter(work);
  }

  /** Records the present members when the blocked work ends. */
  record(): void {
    this.#isUnrecorded = true;
    this.#again = true;
  }

  superblock(uuid: string): Superblock {
    const { format, level, stripeBytes, memberBytes } = this.#layout;
    return {
      groupId: this.#groupId,
      uuid,
      ...(format !== 1 && { format }),
      level,
      stripeBytes,
      memberBytes,
      events: this.events,
      sequence: this.sequence,
      clean: this.isClean,
      members: this.members.map((member) => this.#record(member)),
      spares: this.spares.map((spare) => ({ uuid: spare.uuid, driveId: spare.drive.id })),
    };
  }

  /**
   * Writes the superblocks of all members and spares durably. Superblocks of a lost group are not written: its drives
   * keep their last consistent state, so that the group is whole again when they come back.
   */
  async persist(): Promise<void> {
    if (this.#isLost()) return;
    // Not after a refusal: a drive without space would fall behind as if it had been rolled back.
    if (!this.#isRefused) this.sequence += 1;
    this.#isRefused = true;
    const { events } = this;
    const note = () => {
      this.recordedEvents = events;
    };
    const writes = this.writers.map((member) =>
      this.#persistOn(member, note, (error) => this.#failOrThrow(member, error)),
    );
    const spares = this.spares.map((spare) => this.#persistOn(spare, note, (error) => this.#dropSpare(spare, error)));
    await allDone([...writes, ...spares]);
    this.#isRefused = false;
  }

  async #persistOn(place: Member | Spare, onRecord: () => void, onError: (error: unknown) => void): Promise<void> {
    const slot = 1 - place.superblockSlot;
    try {
      await writeSuperblock(place.drive, this.superblock(place.uuid), slot);
      await place.drive.flush();
      place.superblockSlot = slot;
      onRecord();
    } catch (error) {
      onError(error);
    }
  }

  #record(member: Member): MemberRecord {
    const successor = this.successors[member.slot];
    return {
      uuid: member.uuid,
      driveId: member.drive.id,
      state: member.state,
      ...(member.state === 'rebuilding' && !member.isPartial && { rebuiltRegions: member.cursor }),
      ...(member.state === 'failed' && { failedAt: member.failedAt ?? 0, incomplete: member.isIncomplete }),
      ...(successor && {
        successor: { uuid: successor.uuid, driveId: successor.drive.id, rebuiltRegions: successor.cursor },
      }),
    };
  }

  #commitMembership(): void {
    this.#again = true;
    if (this.committing === undefined) void this.#commitAfter(() => Promise.resolve());
  }

  #commitAfter(work: () => Promise<void>): Promise<void> {
    // Deferred, so that `committing` is set before this can end.
    const committing = Promise.resolve()
      .then(work)
      .then(() => this.#commitRounds())
      .catch((error: unknown) => this.#failAfter(error))
      .finally(() => {
        this.committing = undefined;
        this.onRecorded();
      });
    this.committing = committing;
    return committing;
  }

  async #commitRounds(): Promise<void> {
    try {
      for (let round = 0; this.#again; round += 1) {
        if (round === ROUNDS_MAX) throw new Error('drives fail faster than that can be put on record');
        this.#again = false;
        await this.#hooks.drain();
        if (this.#isLost()) return;
        await this.#commitRound();
      }
      this.#isUnrecorded = false;
      this.stalled = undefined;
    } catch (error) {
      if (!isNoSpace(error)) throw error;
      this.#refuseChanges(error);
    }
  }

  async #commitRound(): Promise<void> {
    await this.#hooks.beforeChange();
    await this.#hooks.flushMembers();
    // More drives failed: the flush may be incomplete.
    if (this.#again || this.#isLost()) return;
    for (const { make } of this.#changes.splice(0)) make();
    this.#assignSpares();
    this.refresh();
    this.#isUnrecorded = true;
    this.events += 1;
    await this.#hooks.afterChange();
    await this.persist();
    if (!this.#isLost()) await this.#hooks.afterRecord(this.#onRecord());
  }

  #onRecord(): MembershipRecord {
    const successors = this.successors.filter((member) => member !== undefined);
    return {
      events: this.events,
      members: [...this.members, ...successors].map(({ drive }) => drive.id),
      spares: this.spares.map(({ drive }) => drive.id),
    };
  }

  /** On a full disk requested changes are refused; changes that have happened already still have to be recorded. */
  #refuseChanges(error: StorageError): void {
    for (const { refuse } of this.#changes.splice(0)) refuse(error);
    this.#again = false;
    if (this.#isUnrecorded) this.stalled = error;
  }

  #failOrThrow(member: Member, error: unknown): void {
    if (isNoSpace(error)) throw error;
    this.fail(member, error);
  }

  #isLost(): boolean {
    return this.failure !== undefined;
  }

  #assignSpares(): void {
    for (const [slot, failed] of this.members.entries()) {
      const successor = this.successors[slot];
      if (failed.isAlive) continue;
      if (successor !== undefined) {
        this.members[slot] = successor;
        this.successors[slot] = undefined;
        continue;
      }
      const spare = this.spares.shift();
      if (spare === undefined) return;
      const { regionRows } = this.#layout;
      const member = new Member({ slot, ...spare, regionRows });
      member.startFilling(RegionSet.from(this.#layout.regions, 0), false);
      this.members[slot] = member;
      this.#hooks.onEvent({ type: 'spare-taken', slot, driveId: spare.drive.id });
    }
  }

  #dropSpare(spare: Spare, error: unknown): void {
    const index = this.spares.indexOf(spare);
    const reason = error instanceof Error ? error.message : String(error);
    // The superblock of a spare is only older; the members' superblocks list the spares.
    if (isNoSpace(error)) this.#hooks.onEvent({ type: 'no-space', work: 'spare', reason });
    if (index < 0 || isNoSpace(error)) return;
    this.spares.splice(index, 1);
    this.#isUnrecorded = true;
    this.#hooks.onEvent({ type: 'spare-failed', driveId: spare.drive.id, reason });
    this.#commitMembership();
  }

  /** A drive that is being filled counts as missing: it lacks data. */
  #missing(): Member[] {
    return this.members.filter((member) => member.state !== 'active');
  }

  #failGroup(): void {
    const missing = this.#missing().map((member) => member.drive.id);
    this.failure = new StorageError(
      'group-failed',
      `Group ${this.#groupId} lacks more drives than it can miss (${missing.join(', ')}); bring them back.`,
    );
    this.#changes.length = 0;
    this.#hooks.onEvent({ type: 'group-failed', missing });
  }

  #failAfter(error: unknown): void {
    if (this.failure !== undefined) return;
    const message = `Group ${this.#groupId} cannot go on: ${String(error)}`;
    this.failure = isNoSpace(error) ? error : new StorageError('group-failed', message, { cause: error });
  }
}

export function newUuid(): string {
  return randomUUID();
}

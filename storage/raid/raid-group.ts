import type { Drive } from '../drive/drive.ts';
import { SharedFlush } from '../drive/shared-flush.ts';
import { isNoSpace, StorageError } from '../errors.ts';
import { Meter, type OperationStatistics } from '../statistics.ts';
import { BLOCK_BYTES } from '../units.ts';
import type { Done } from '../units.ts';
import { assemble, identify, layoutOf, newest, rejoin } from './members/assemble.ts';
import { GroupCore } from './core.ts';
import { clearMetadata, requireSpace } from './members/format.ts';
import { failMismatches, matchingSuperblocks } from './members/member-check.ts';
import { ChecksumRepairer } from './repair/checksum-repairer.ts';
import type { ChecksumCacheStatistics } from './checksums/checksums.ts';
import type { BlockGroup } from './group.ts';
import { describeGroup } from './group-state.ts';
import type { GroupState } from './group-state.ts';
import { IntentCleaner } from './intent/intent-cleaner.ts';
import { layOut, STRIPE_BYTES_DEFAULT } from './layout.ts';
import type { Layout } from './layout.ts';
import { AbsentDrive, Member } from './members/member.ts';
import { newUuid } from './members/group-membership.ts';
import { Mirror } from './mirror/mirror.ts';
import type { CreateOptions, OpenOptions, ReadMode, RuntimeOptions } from './options.ts';
import { ParityStripes } from './parity/parity-stripes.ts';
import { Rebuilder } from './repair/rebuild.ts';
import { RegionSet } from './intent/region-set.ts';
import { Resyncer } from './repair/resync.ts';
import { GroupScrubber } from './repair/group-scrubber.ts';
import type { ScrubOptions } from './repair/group-scrubber.ts';
import type { Examination } from './strategy.ts';
import { readSuperblock } from './members/superblock.ts';
import type { ResyncSpeed } from './repair/throttle.ts';
import { trimBlocks } from './trim.ts';
import { verifyGroup } from './repair/verify.ts';
import type { Finding } from './repair/verify.ts';

const REQUEST_BYTES_MAX = 64 * 1024 * 1024;
const SPARES_MAX = 4;

/** A group of drives with redundancy: checksummed, mirrored or with two parities, repaired online. */
export class RaidGroup implements BlockGroup {
  readonly id: string;
  readonly capacityBytes: number;
  readonly #core: GroupCore;
  readonly #rebuilder: Rebuilder;
  readonly #resyncer: Resyncer;
  readonly #scrubber: GroupScrubber;
  readonly #checksumRepairer: ChecksumRepairer;
  readonly #flusher = new SharedFlush(() => this.#flushNow());
  readonly #intentCleaner: IntentCleaner;
  readonly #reads = new Meter();
  readonly #writes = new Meter();

  private constructor(id: string, layout: Layout, options: RuntimeOptions) {
    this.id = id;
    this.capacityBytes = layout.capacityBytes;
    this.#core = new GroupCore(id, layout, options);
    this.#core.strategy = layout.level === 'RAID1' ? new Mirror(this.#core) : new ParityStripes(this.#core);
    if (options.resyncSpeed !== undefined) this.#core.throttle.setSpeed(options.resyncSpeed);
    this.#rebuilder = new Rebuilder(this.#core);
    this.#resyncer = new Resyncer(this.#core);
    this.#scrubber = new GroupScrubber(this.#core);
    this.#checksumRepairer = new ChecksumRepairer(this.#core);
    this.#core.startWork = () => this.#startBackgroundWork();
    this.#core.membership.onRecorded = this.#core.startWork;
    this.#intentCleaner = new IntentCleaner(this.#core, () => this.#flusher.run(), options.intentIdleMs);
  }

  /** Creates a group. The previous contents of the drives are lost. */
  static async create(options: CreateOptions): Promise<RaidGroup> {
    const { id, level, members: drives, spares = [] } = options;
    if (spares.length > SPARES_MAX) {
      throw new StorageError('invalid', `A group has at most ${SPARES_MAX} spares, not ${spares.length}.`);
    }
    const memberBytes = Math.min(...drives.map((drive) => drive.sizeBytes));
    const stripeBytes = options.stripeBytes ?? STRIPE_BYTES_DEFAULT;
    const layout = layOut({
      ...(options.format !== undefined && { format: options.format }),
      level,
      memberBytes,
      stripeBytes,
      memberCount: drives.length,
    });
    for (const spare of spares) requireSpace(spare, layout);
    await Promise.all([...drives, ...spares].map((drive) => clearMetadata(drive, layout)));
    const group = new RaidGroup(id, layout, options);
    const { membership } = group.#core;
    for (const [slot, drive] of drives.entries()) membership.members.push(group.#newMember(slot, drive));
    for (const drive of spares) membership.spares.push({ uuid: newUuid(), drive, superblockSlot: 1 });
    for (const _ of drives) membership.successors.push(undefined);
    membership.assess();
    membership.events = 1;
    await group.#core.intent.rewrite();
    await membership.persist();
    await membership.whenRecorded();
    return group;
  }

  /**
   * Opens a group from its drives. With too few of them the group is open but refuses all operations; `returnDrive`
   * brings it back.
   */
  static async open(options: OpenOptions): Promise<RaidGroup> {
    const all = await identify(options.drives);
    const found = all.filter(({ superblock }) => options.id === undefined || superblock.groupId === options.id);
    const right = newest(found);
    if (right === undefined) {
      const name = options.id === undefined ? 'a group' : `group ${options.id}`;
      throw new StorageError('not-found', `None of the drives belongs to ${name}; name the drives it was made of.`);
    }
    const foreign = found.find(({ superblock }) => superblock.groupId !== right.groupId);
    if (foreign !== undefined) {
      const { groupId } = foreign.superblock;
      throw new StorageError('invalid', `Drive ${foreign.drive.id} belongs to group ${groupId}; say which to open.`);
    }
    if (right.events < (options.minimumEvents ?? 0)) {
      throw new StorageError(
        'conflict',
        `All drives found of group ${right.groupId} are out of date; bring the others.`,
      );
    }
    const group = new RaidGroup(right.groupId, layoutOf(right), options);
    await assemble(group.#core, matchingSuperblocks(found, right), options.drives);
    if (isNoSpace(group.#core.membership.failure)) throw group.#core.membership.failure;
    const others = all.filter(({ superblock }) => superblock.groupId !== right.groupId).map(({ drive }) => drive);
    const own = options.drives.filter((drive) => !others.includes(drive));
    if (options.rebuildsInPlace !== false) await group.#rebuildInPlace(own);
    group.#startBackgroundWork();
    return group;
  }

  read(offset: number, into: Buffer): Done {
    this.#check(offset, into.length);
    this.#core.counters.reads += 1;
    const startedMs = performance.now();
    return this.#reads.measure(startedMs, into.length, this.#core.strategy.read(offset, into));
  }

  write(offset: number, from: Buffer): Done {
    this.#check(offset, from.length);
    this.#core.counters.writes += 1;
    const startedMs = performance.now();
    return this.#writes.measure(startedMs, from.length, this.#core.strategy.write(offset, from));
  }

  discard(offset: number, length: number): Done {
    this.#check(offset, 0, length);
    this.#core.counters.discards += 1;
    return length === 0 ? undefined : this.#core.strategy.discard(offset, length);
  }

  async trim(offset: number, length: number): Promise<void> {
    await this.discard(offset, length);
    await this.flush();
    await trimBlocks(this.#core, offset / BLOCK_BYTES, length / BLOCK_BYTES);
  }

  async flush(): Promise<void> {
    await this.#core.enter();
    this.#core.counters.flushes += 1;
    await this.#flusher.run();
  }

  /** Runs `work` while no write is in flight and everything acknowledged is on the drives. */
  atRest(work: () => void): Promise<void> {
    return this.#core.membership.change(work);
  }

  /** A missing drive is available again. It is resynced, or the whole group comes back with it. */
  async returnDrive(drive: Drive): Promise<void> {
    const found = await readSuperblock(drive);
    if (found?.superblock.groupId !== this.id) {
      throw new StorageError('conflict', `Drive ${drive.id} is no member of group ${this.id}; add it as a spare.`);
    }
    const { membership } = this.#core;
    await membership.idle();
    if (membership.failure !== undefined) return this.#reassemble(drive);
    const offline = membership.members.find((member) => member.uuid === found.superblock.uuid);
    if (offline?.isAlive !== false) {
      throw new StorageError('conflict', `Group ${this.id} does not miss drive ${drive.id}; add it as a spare.`);
    }
    await membership.change(() => {
      if (membership.members[offline.slot] !== offline) return;
      const place = { slot: offline.slot, uuid: offline.uuid, drive, superblockSlot: found.slot };
      const member = new Member({ ...place, regionRows: this.#core.layout.regionRows });
      member.isIncomplete = offline.isIncomplete;
      member.failedAt = offline.failedAt;
      rejoin(this.#core, member, found.superblock);
      membership.members[offline.slot] = member;
      this.#core.emit({ type: 'drive-returned', slot: member.slot, driveId: drive.id });
    });
  }

  /** A drive recorded as failed is available again without its contents: it is rebuilt in place. */
  async readmit(drive: Drive): Promise<void> {
    await this.#core.membership.idle();
    await this.#rebuildInPlace([drive]);
  }

  async addSpare(drive: Drive): Promise<void> {
    const { membership, layout } = this.#core;
    this.#requireUnknownDrive(drive);
    requireSpace(drive, layout);
    if (membership.spares.length >= SPARES_MAX) {
      throw new StorageError('conflict', `Group ${this.id} has ${SPARES_MAX} spares already; remove one first.`);
    }
    await membership.change(() => {
      membership.spares.push({ uuid: newUuid(), drive, superblockSlot: 1 });
    });
  }

  /** Removes the spare and returns it. */
  async removeSpare(driveId: string): Promise<Drive> {
    const { membership } = this.#core;
    const spare = membership.spares.find(({ drive }) => drive.id === driveId);
    if (spare === undefined) throw new StorageError('not-found', `Group ${this.id} has no spare ${driveId}.`);
    await membership.change(() => {
      const index = membership.spares.indexOf(spare);
      if (index >= 0) membership.spares.splice(index, 1);
    });
    await clearMetadata(spare.drive, this.#core.layout);
    return spare.drive;
  }

  /**
   * Puts another drive into a slot. A working member keeps serving until the new one is complete. Resolves when the
   * change is recorded; `rebuilt` waits for the end.
   */
  async replace(slot: number, drive: Drive): Promise<void> {
    const { membership, layout } = this.#core;
    const member = membership.members[slot];
    if (member === undefined) throw new StorageError('not-found', `Group ${this.id} has no slot ${slot}.`);
    if (membership.successors[slot] !== undefined) {
      throw new StorageError('conflict', `Slot ${slot} of group ${this.id} is being replaced already; wait for it.`);
    }
    this.#requireUnknownDrive(drive);
    requireSpace(drive, layout);
    await membership.change(() => {
      const target = this.#newMember(slot, drive);
      target.startFilling(RegionSet.from(layout.regions, 0), false);
      const present = membership.members[slot];
      if (present?.state === 'active') {
        membership.successors[slot] = target;
        return;
      }
      membership.members[slot] = target;
      if (present !== undefined) this.#core.retired.push(present.drive);
    });
  }

  /** Resolves when no rebuild or resync is running. */
  async rebuilt(): Promise<void> {
    await this.#resyncer.finished();
    await this.#rebuilder.finished();
    await this.#checksumRepairer.finished();
    await this.#core.membership.whenRecorded();
  }

  async scrub(options?: ScrubOptions): Promise<Examination> {
    return this.#scrubber.run(options, () => this.verifyMembers());
  }

  /** Checks that the drives are still those the group wrote to; a drive that is not is failed and rebuilt. */
  async verifyMembers(): Promise<void> {
    await this.#rebuildInPlace(await failMismatches(this.#core));
  }

  pauseScrub(): void {
    this.#scrubber.pause();
  }

  resumeScrub(): void {
    this.#scrubber.resume();
  }

  setResyncSpeed(speed: ResyncSpeed): void {
    this.#core.throttle.setSpeed(speed);
  }

  /** From the next read on. */
  setReadMode(mode: ReadMode): void {
    this.#core.readMode = mode;
  }

  state(): GroupState {
    return describeGroup(this.#core, this.#scrubber.state(), [
      this.#rebuilder.progress(),
      this.#resyncer.progress(),
      this.#checksumRepairer.progress(),
    ]);
  }

  /** Reads and writes through the group since it was opened. */
  statistics(): { readonly reads: OperationStatistics; readonly writes: OperationStatistics } {
    return { reads: this.#reads.totals(), writes: this.#writes.totals() };
  }

  /** The cache of checksums, which are the group's metadata. */
  checksumCache(): ChecksumCacheStatistics {
    return this.#core.checksums.statistics();
  }

  /** Checks everything and changes nothing. */
  verify(): Promise<Finding[]> {
    return verifyGroup(this.#core);
  }

  async close(): Promise<void> {
    const core = this.#core;
    const { membership } = core;
    if (core.isClosed) return;
    core.isClosed = true;
    this.#scrubber.resume();
    await this.#intentCleaner.stop();
    await membership.idle();
    await core.drain();
    try {
      if (membership.failure === undefined) await core.persistAtEnd();
      await membership.idle();
    } finally {
      await Promise.all([...new Set([...core.drives(), ...core.retired])].map((drive) => drive.close()));
    }
  }

  #newMember(slot: number, drive: Drive): Member {
    const { regionRows } = this.#core.layout;
    return new Member({ slot, uuid: newUuid(), drive, superblockSlot: 1, regionRows });
  }

  #check(offset: number, bufferLength: number, length = bufferLength): void {
    const isAligned = offset % BLOCK_BYTES === 0 && length % BLOCK_BYTES === 0;
    const isInside = offset >= 0 && length >= 0 && offset + length <= this.capacityBytes;
    if (isAligned && isInside && bufferLength <= REQUEST_BYTES_MAX) return;
    throw new StorageError(
      'invalid',
      `Group ${this.id} reads and writes whole blocks within ${this.capacityBytes} bytes, not ${length} at ${offset}.`,
    );
  }

  async #flushNow(): Promise<void> {
    await this.#core.enter();
    await this.#core.flushMembers();
    await this.#core.membership.whenRecorded();
  }

  #startBackgroundWork(): void {
    const { failure, stalled } = this.#core.membership;
    if (this.#core.isClosed || failure !== undefined || stalled !== undefined) return;
    this.#resyncer.start();
    this.#rebuilder.start();
    this.#checksumRepairer.start();
  }

  /** Rebuilds drives that are recorded as members but do not hold a member's data. */
  async #rebuildInPlace(drives: readonly Drive[]): Promise<void> {
    const { membership, layout } = this.#core;
    const isFailed = (slot: number, drive: Drive) => {
      const member = membership.members[slot];
      return member?.state === 'failed' && member.drive.id === drive.id && !isInUse(drive);
    };
    const isInUse = (drive: Drive) => [...membership.writers, ...membership.spares].some((use) => use.drive === drive);
    if (membership.failure !== undefined) return;
    for (const drive of drives) {
      const slot = membership.members.findIndex((_, candidate) => isFailed(candidate, drive));
      if (slot < 0 || drive.sizeBytes < layout.memberBytes) continue;
      await membership.change(() => {
        // A spare may have replaced it.
        if (!isFailed(slot, drive)) return;
        const target = this.#newMember(slot, drive);
        target.startFilling(RegionSet.from(layout.regions, 0), false);
        membership.members[slot] = target;
        this.#core.emit({ type: 'drive-returned', slot, driveId: drive.id });
      });
    }
  }

  async #reassemble(drive: Drive): Promise<void> {
    const { membership } = this.#core;
    const others = this.#core.drives().filter((other) => !(other instanceof AbsentDrive) && other.id !== drive.id);
    const drives = [drive, ...others];
    const found = (await identify(drives)).filter(({ superblock }) => superblock.groupId === this.id);
    if ((newest(found)?.events ?? 0) < membership.recordedEvents) {
      throw new StorageError('conflict', `Drive ${drive.id} is older than group ${this.id}; bring the others first.`);
    }
    const right = newest(found);
    await assemble(this.#core, right === undefined ? found : matchingSuperblocks(found, right), drives);
    if (membership.failure !== undefined) return;
    this.#core.emit({ type: 'group-resumed' });
    this.#startBackgroundWork();
  }

  #requireUnknownDrive(drive: Drive): void {
    if (this.#core.drives().includes(drive))
      throw new StorageError('conflict', `Drive ${drive.id} is in group ${this.id} already.`);
  }
}

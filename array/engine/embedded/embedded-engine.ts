import { join } from 'node:path';
import { Locks } from '@granary/kernel/locks';
import { Reserve } from '@granary/kernel/reserve';
import { type BlockDevice, StorageError } from '@granary/storage';
import type * as wanted from '../engine.ts';
import type { EngineMethods } from '../controllers/protocol.ts';
import type * as hardware from '../hardware.ts';
import type { DriveReport, Report, ServerReport, VolumeReport } from '../report.ts';
import type { ShareEngine } from '../shares.ts';
import type { Work } from '../work.ts';
import { EngineCatalogue } from './engine-catalogue.ts';
import { EngineDriveWatch } from './drive-watch.ts';
import { EngineDrives, type PlacedDrive } from './drives/drives.ts';
import { EngineGroups } from './groups/groups.ts';
import { VolumeMoves } from './volumes/moves.ts';
import { EnginePools } from './pools.ts';
import { reasonOf, translateErrors } from './refused.ts';
import type * as setups from './setup.ts';
import { EngineSnapshots } from './volumes/snapshots.ts';
import { NO_IO, plus, totalsOf } from './reports/totals.ts';
import { EngineVolumes } from './volumes/volumes.ts';
import { RunningWorks } from './running-works.ts';

/** What could not be opened is tried again so often. */
const RETRY_MS = 5000;
const WRITE_BYTES_MAX = 16 * 1024 * 1024;

/** What an engine does with blocks; shares are a part of their own. */
export type BlockEngine = Omit<EngineMethods, 'failover' | keyof ShareEngine>;

/** The array's own engine: drives are files, and everything stands on them in this thread. */
export class EmbeddedEngine implements BlockEngine, setups.UnitSource {
  readonly #setup: setups.EmbeddedEngineSetup;
  readonly #drives = new EngineDrives();
  readonly #groups: EngineGroups;
  readonly #pools: EnginePools;
  readonly #volumes: EngineVolumes;
  readonly #snapshots: EngineSnapshots;
  readonly #moves: VolumeMoves;
  readonly #works = new RunningWorks();
  readonly #turns = new Locks();
  #exports: setups.BlockExports | undefined;
  #shares: setups.FileShares | undefined;
  readonly #watch: EngineDriveWatch;
  /** Of the metadata of all pools: room for deletions. */
  readonly #reserve: Reserve;
  #retry: NodeJS.Timeout | undefined;

  constructor(setup: setups.EmbeddedEngineSetup) {
    this.#setup = setup;
    const { folder, onEvent } = setup;
    this.#reserve = new Reserve(join(folder, 'engine-reserve'));
    const catalogue = new EngineCatalogue(folder, this.#reserve);
    const drives = this.#drives;
    const groups = new EngineGroups({
      catalogue,
      drives,
      onEvent,
      onResumed: (raid) => this.#pools.groupResumed(raid),
    });
    this.#groups = groups;
    this.#pools = new EnginePools({ folder, catalogue, groups, onEvent, reserve: this.#reserve });
    this.#volumes = new EngineVolumes(this.#pools, () => ({ exports: this.#exports, shares: this.#shares }));
    this.#snapshots = new EngineSnapshots(this.#pools, this.#volumes, () => this.#shares);
    this.#moves = new VolumeMoves(this.#pools, this.#volumes);
    this.#watch = new EngineDriveWatch({ drives, groups, onEvent, inTurn: (work) => this.#inTurn(work) });
  }

  /** Brings up whatever can be: drives that are missing, and what stands on them, come when they can. */
  async open(): Promise<void> {
    const { drives, onStage = () => undefined } = this.#setup;
    await translateErrors(async () => {
      onStage(`opening ${drives.length} drives`);
      await this.#drives.follow(drives);
      await this.#groups.open((group) => onStage(`opening RAID group ${group}`));
      await this.#pools.open((pool) => onStage(`opening pool ${pool}`));
      onStage('opening its volumes');
      await this.#volumes.open((error) => {
        for (const { id } of this.#pools.all()) this.#reportProblem(id, error);
      });
      this.#exports = this.#setup.exports?.(this);
      this.#shares = this.#setup.shares?.({
        volume: (id) => this.#volumes.find(id),
        snapshot: (id) => this.#snapshots.device(id),
      });
    });
    this.#retry = setInterval(() => void this.#retryAway(), RETRY_MS).unref();
    this.#watch.start();
  }

  /** Drives came or went. */
  followDrives(drives: readonly setups.EngineDriveSetup[]): Promise<void> {
    return this.#inTurn(async () => {
      const { arrived, gone } = await this.#drives.follow(drives);
      for (const drive of gone) await this.#groups.of(drive)?.notice();
      for (const drive of arrived) await this.#groups.driveArrived(drive);
    });
  }

  /** Afterwards every byte is on the drives and nothing of them is open. */
  async close(): Promise<void> {
    clearInterval(this.#retry);
    this.#reserve.close();
    this.#watch.stop();
    await this.#works.close();
    this.#volumes.releaseAll();
    await this.#exports?.close();
    await this.#shares?.close();
    await this.#inTurn(() => Promise.resolve());
    await this.#pools.close();
    await this.#groups.close();
    await this.#drives.close();
  }

  device(volume: string): BlockDevice | undefined {
    return this.#volumes.find(volume);
  }

  report(sinceVersion: number): Promise<Report> {
    return translateErrors(() => {
      // Volumes first: what was done to them is counted to their pools.
      const { version, volumes } = this.#volumes.changedSince(sinceVersion);
      const groups = this.#groups.reports();
      return {
        version,
        volumes,
        groups,
        drives: [...this.#drives.all()].map((placed) => driveReport(placed, this.#groups)),
        pools: this.#pools.reports(),
        sessions: [...(this.#exports?.sessions() ?? []), ...(this.#shares?.sessions() ?? [])],
        servers: merged([...(this.#exports?.servers() ?? []), ...(this.#shares?.servers() ?? [])]),
        // The controller pair reports them.
        controllers: [],
      };
    });
  }

  volume(id: string): Promise<VolumeReport> {
    return translateErrors(() => this.#volumes.get(id).measure());
  }

  takeDriveOffline(drive: string): Promise<void> {
    return this.#inTurn(async () => {
      const group = this.#groups.of(drive);
      // It may be the last one its group has: what was answered is on it before it goes.
      if (group) await group.atRest(() => this.#drives.takeOffline(drive));
      else this.#drives.takeOffline(drive);
      await group?.notice();
    });
  }

  bringDriveOnline(drive: string): Promise<void> {
    return this.#inTurn(async () => {
      // Reopening it would remove it from its group for a short time.
      if (this.#drives.get(drive).drive.isPlugged && this.#groups.of(drive)?.uses(drive) === true) return;
      await this.#drives.bringOnline(drive);
      await this.#groups.driveArrived(drive);
    });
  }

  /** Looks at the files of all drives now; by itself it does so every few seconds. */
  inspectDrives(): Promise<void> {
    return translateErrors(() => this.#watch.inspect());
  }

  shredDrive(drive: string, from: number, work: Work): Promise<void> {
    return this.#works.run(work.signal, async (signal) => {
      const group = this.#groups.of(drive);
      if (group) throw new StorageError('conflict', `Drive ${drive} is in RAID group ${group.id}; it is not shredded.`);
      await this.#drives.shred(drive, from, { ...work, signal });
    });
  }

  createGroup(group: hardware.NewGroup): Promise<{ readonly capacityBytes: number }> {
    return this.#inTurn(() => this.#groups.create(group));
  }

  deleteGroup(id: string): Promise<void> {
    return this.#inTurn(async () => {
      const pool = this.#pools.using(id);
      if (pool) throw new StorageError('conflict', `RAID group ${id} is in pool ${pool.id}; take it out first.`);
      await this.#groups.delete(id);
    });
  }

  replaceDrive(group: string, from: string, to: string): Promise<void> {
    return this.#inTurn(() => this.#groups.replaceDrive(group, from, to));
  }

  addSpare(group: string, drive: string): Promise<void> {
    return this.#inTurn(() => this.#groups.addSpare(group, drive));
  }

  removeSpare(group: string, drive: string): Promise<void> {
    return this.#inTurn(() => this.#groups.removeSpare(group, drive));
  }

  setResyncSpeed(group: string, speed: hardware.ResyncSpeed): Promise<void> {
    return translateErrors(() => this.#groups.get(group).setSpeed(speed));
  }

  setReadMode(mode: hardware.ReadMode): Promise<void> {
    return translateErrors(() => this.#groups.setReadMode(mode));
  }

  scrubGroup(group: string, from: number, work: Work): Promise<hardware.ScrubResult> {
    return this.#works.run(work.signal, (signal) => this.#groups.get(group).scrub(from, { ...work, signal }));
  }

  createPool(pool: wanted.NewPool): Promise<void> {
    return this.#inTurn(() => this.#pools.create(pool));
  }

  deletePool(id: string, isForced = false): Promise<void> {
    return this.#inTurn(async () => {
      if (!isForced) this.#pools.requireDeletable(id);
      await this.#pools.delete(id, (pool) => this.#volumes.drop(pool));
    });
  }

  expandPool(id: string, groups: readonly string[], capacityBytes: number): Promise<void> {
    return this.#inTurn(() => this.#pools.expand(id, groups, capacityBytes));
  }

  shrinkPool(id: string, group: string, capacityBytes: number, work: Work): Promise<void> {
    return this.#works.run(work.signal, (signal) => this.#pools.shrink(id, group, capacityBytes, { ...work, signal }));
  }

  setPoolCache(id: string, cache: wanted.PoolCache): Promise<void> {
    return translateErrors(() => this.#pools.setCache(id, cache));
  }

  createVolume(volume: wanted.NewVolume): Promise<void> {
    return translateErrors(() => this.#volumes.create(volume));
  }

  expandVolume(id: string, sizeBytes: number): Promise<void> {
    return translateErrors(() => this.#volumes.expand(id, sizeBytes));
  }

  deleteVolume(id: string): Promise<void> {
    return translateErrors(() => this.#volumes.delete(id));
  }

  setReduction(id: string, reduction: wanted.Reduction): Promise<void> {
    return translateErrors(() => this.#volumes.setReduction(id, reduction));
  }

  setCaps(id: string, caps: wanted.VolumeCaps): Promise<void> {
    return translateErrors(() => this.#volumes.setCaps(id, caps));
  }

  countSizes(id: string, isWanted: boolean): Promise<void> {
    return translateErrors(() => this.#volumes.get(id).countSizes(isWanted));
  }

  unlockVolume(id: string, key: Uint8Array): Promise<void> {
    return translateErrors(() => this.#volumes.unlock(id, key));
  }

  holdWrites(volumes: readonly string[], forMs: number): Promise<void> {
    return translateErrors(() => this.#volumes.hold(volumes, forMs));
  }

  releaseWrites(volumes: readonly string[]): Promise<void> {
    return translateErrors(() => this.#volumes.release(volumes));
  }

  moveVolume(id: string, pool: string, withSnapshots: boolean, work: wanted.MoveWork): Promise<void> {
    return this.#works.run(work.signal, (signal) => this.#moves.run(id, pool, withSnapshots, { ...work, signal }));
  }

  pauseMove(id: string): Promise<void> {
    return translateErrors(() => this.#moves.pause(id));
  }

  resumeMove(id: string): Promise<void> {
    return translateErrors(() => this.#moves.resume(id));
  }

  takeSnapshots(snapshots: readonly wanted.NewSnapshot[], takenAt: number): Promise<wanted.SnapshotSizes> {
    return translateErrors(() => this.#snapshots.take(snapshots, takenAt));
  }

  deleteSnapshot(id: string): Promise<void> {
    return translateErrors(() => this.#snapshots.delete(id));
  }

  cloneSnapshot(snapshot: string, volume: string): Promise<void> {
    return translateErrors(() => this.#snapshots.clone(snapshot, volume));
  }

  revertVolume(snapshot: string, unlessSince?: string): Promise<void> {
    return translateErrors(() => this.#snapshots.revert(snapshot, unlessSince));
  }

  changes(
    from: string | undefined,
    to: string,
    afterOffset: number,
    limit: number,
  ): Promise<readonly wanted.ChangedRange[]> {
    return translateErrors(() => this.#snapshots.changes(from, to, afterOffset, limit));
  }

  readSnapshot(id: string, offset: number, length: number): Promise<Uint8Array> {
    return translateErrors(() => this.#snapshots.read(id, offset, length));
  }

  writeVolume(id: string, offset: number, bytes: Uint8Array): Promise<void> {
    return translateErrors(async () => {
      const { length } = bytes;
      if (length > WRITE_BYTES_MAX) throw new StorageError('invalid', `${length} bytes are too many for one write.`);
      await this.#volumes.get(id).write(offset, Buffer.from(bytes.buffer, bytes.byteOffset, length));
    });
  }

  discardVolume(id: string, offset: number, length: number): Promise<void> {
    return translateErrors(async () => {
      await this.#volumes.get(id).discard(offset, length);
    });
  }

  flushVolume(id: string): Promise<void> {
    return translateErrors(() => this.#volumes.get(id).flush());
  }

  shownBytes(id: string): Promise<number> {
    return translateErrors(() => this.#volumes.get(id).pool.open.shownBytes(id));
  }

  putServer(server: wanted.ExportedServer): Promise<void> {
    return translateErrors(() => this.#exports?.putServer(server));
  }

  removeServer(id: string): Promise<void> {
    return translateErrors(() => this.#exports?.removeServer(id));
  }

  dropSessions(initiator: string, target: string): Promise<number> {
    return translateErrors(() => {
      const users = [this.#exports, this.#shares];
      return users.reduce((sum, user) => sum + (user?.endSessions(initiator, target) ?? 0), 0);
    });
  }

  /** Changes of what there is are made one after the other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return translateErrors(() => this.#turns.run('', work));
  }

  async #retryAway(): Promise<void> {
    void this.#reserve.fill();
    this.#shares?.retry();
    await this.#inTurn(async () => {
      for (const drive of await this.#drives.retry()) await this.#groups.driveArrived(drive);
      await this.#groups.retry();
    }).catch((error: unknown) => {
      for (const { id } of this.#pools.all()) this.#reportProblem(id, error);
    });
  }

  #reportProblem(pool: string, error: unknown): void {
    this.#setup.onEvent({ type: 'background-error', pool, reason: reasonOf(error) });
  }
}

/** A server may use disks and shares. */
function merged(servers: readonly ServerReport[]): ServerReport[] {
  const all = new Map<string, ServerReport>();
  for (const { id, io } of servers) all.set(id, { id, io: plus(all.get(id)?.io ?? NO_IO, io) });
  return [...all.values()];
}

function driveReport(placed: PlacedDrive, groups: EngineGroups): DriveReport {
  const { setup, drive } = placed;
  return { id: setup.id, state: driveState(placed, groups), io: totalsOf(drive.statistics()) };
}

function driveState(
  { setup, drive, loss, isOffline, isAbsent }: PlacedDrive,
  groups: EngineGroups,
): DriveReport['state'] {
  if (loss) return 'failed';
  if (isOffline || isAbsent) return 'absent';
  if (!drive.isPlugged) return 'failed';
  return groups.of(setup.id)?.memberState(setup.id) ?? 'online';
}

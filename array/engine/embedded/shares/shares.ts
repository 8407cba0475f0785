import { Locks } from '@granary/kernel/locks';
import { Filesystem, FsError, isFormatted } from '@granary/storage/filesystem';
import type { OnEngineEvent } from '../../engine.ts';
import { EngineError } from '../../errors.ts';
import type { ServerReport, SessionReport } from '../../report.ts';
import type * as wanted from '../../shares.ts';
import type { Portals } from '../exports/portals.ts';
import { isStorageError, reasonOf, translateErrors } from '../refused.ts';
import type { FileShares, ShareSource, ShareVolume } from '../setup.ts';
import { RunningWorks } from '../running-works.ts';
import { ShareAuditLogs } from './audit/audit-logs.ts';
import { FencedDevice } from './fenced-device.ts';
import { NfsService } from './nfs-service.ts';
import { ArchivedContents } from './files/archived-contents.ts';
import { ShareRecalls } from './files/recalls.ts';
import { EngineShareFiles } from './share-files.ts';
import { EngineShare, type ShareParts } from './share.ts';
import { ShareQuotas } from './share-quotas.ts';
import { SnapshotMounts } from './snapshot-mounts.ts';

const MIB = 1024 * 1024;
/** Memory for the metadata of a share; less of it where there are many. */
const CACHE_BYTES = 32 * MIB;
const CROWDED_CACHE_BYTES = 8 * MIB;
const CROWDED = 8;
/** Who may reach a share is decided by what it is attached to; with root squashed no client could change this. */
const ROOT_MODE = 0o777;

interface SharesSetup {
  readonly source: ShareSource;
  /** The array's. */
  readonly folder: string;
  /** The same whichever controller serves, and no other array's. */
  readonly serverName: string;
  readonly controller: string;
  readonly onEvent: OnEngineEvent;
  readonly onProblem: (problem: string, error: unknown) => void;
}

type ServingEngine = Pick<wanted.ShareEngine, 'formatShare' | 'putShare' | 'removeShare' | 'putNasAccounts'>;

/** The file shares of an array, over NFS. */
export class EngineShares implements ServingEngine, FileShares {
  readonly limits: ShareQuotas;
  readonly files: EngineShareFiles;
  readonly #setup: SharesSetup;
  readonly #shares = new Map<string, EngineShare>();
  readonly #nfs: NfsService;
  readonly #snapshots: SnapshotMounts;
  /** What is done to a share is done one after the other. */
  readonly #turns = new Locks();
  readonly #works = new RunningWorks();
  readonly #parts: ShareParts;

  constructor(setup: SharesSetup) {
    this.#setup = setup;
    const { serverName, folder, onEvent, onProblem } = setup;
    const recalls = new ShareRecalls(onEvent);
    this.#parts = { recalls, audit: new ShareAuditLogs({ folder, onEvent, onProblem }) };
    this.#nfs = new NfsService({ serverName, folder, onProblem });
    const archived = new ArchivedContents(onEvent);
    this.#snapshots = new SnapshotMounts((snapshot) => setup.source.snapshot(snapshot), archived);
    const [works, snapshots] = [this.#works, this.#snapshots];
    this.limits = new ShareQuotas((volume) => this.#get(volume), works);
    const filesystem = (volume: string) => this.#get(volume).filesystem;
    this.files = new EngineShareFiles({ filesystem, snapshots, recalls, archived, works });
  }

  serve(portals: Portals): Promise<void> {
    return this.#nfs.serve(portals);
  }

  formatShare(volume: string): Promise<void> {
    return this.#inTurn(volume, async () => {
      if (this.#shares.has(volume)) return;
      const device = new FencedDevice(this.#volume(volume));
      try {
        if (!(await isFormatted(device))) await Filesystem.format(device, { mode: ROOT_MODE });
      } finally {
        await device.raise();
      }
    });
  }

  putShare(record: wanted.ServedShare): Promise<void> {
    return this.#inTurn(record.volume, async () => {
      const known = this.#shares.get(record.volume);
      const share = known ?? new EngineShare(this.#volume(record.volume), record, this.#parts);
      if (known) {
        known.follow(record);
        named(() => this.#nfs.replace(share.exported(this.#snapshots.sourceOf(share))));
      } else {
        named(() => this.#nfs.add(share.exported(this.#snapshots.sourceOf(share))));
        this.#shares.set(record.volume, share);
      }
      await this.#mount(share);
    });
  }

  removeShare(volume: string): Promise<void> {
    return this.#inTurn(volume, () => this.#remove(volume));
  }

  putNasAccounts(accounts: wanted.NasAccounts): Promise<void> {
    return translateErrors(() => this.#nfs.accounts.put(accounts));
  }

  async removeVolume(volume: string): Promise<void> {
    await this.#turns.run(volume, async () => {
      const share = this.#shares.get(volume);
      if (!share) return;
      // Requests that wait for writes to go on would keep it mounted.
      share.volume.release();
      await this.#remove(volume);
    });
  }

  async volumeResized(volume: string): Promise<void> {
    await this.#turns.run(volume, async () => {
      const share = this.#shares.get(volume);
      if (share?.isMounted === true) await share.filesystem.grow();
    });
  }

  volumeUnlocked(volume: string): void {
    this.#retry(volume);
  }

  async flushShares(volumes: readonly string[]): Promise<void> {
    await Promise.all(
      volumes.map(async (volume) => {
        const share = this.#shares.get(volume);
        // A volume without room for it is as a crash would leave it, which mounts as well.
        if (share?.isMounted === true) await share.filesystem.sync().catch(() => undefined);
      }),
    );
  }

  removeSnapshot(snapshot: string): Promise<void> {
    return this.#snapshots.remove(snapshot);
  }

  async whileReplaced(volume: string, replace: () => Promise<void>): Promise<void> {
    await this.#turns.run(volume, async () => {
      const share = this.#shares.get(volume);
      await share?.abandon();
      try {
        await replace();
      } finally {
        if (share) await this.#mount(share);
      }
    });
  }

  retry(): void {
    for (const [volume, { isMounted }] of this.#shares) if (!isMounted) this.#retry(volume);
  }

  sessions(): SessionReport[] {
    const { controller } = this.#setup;
    const connections = this.#nfs.connectionsByAddress();
    return [...this.#shares.values()].flatMap((share) =>
      share.uses
        .clients((address) => connections.has(address))
        .map(({ address, server, io }) => ({
          ...({ protocol: 'NFS', server, initiator: address, address, target: share.path, controller } as const),
          connections: connections.get(address) ?? 0,
          io,
        })),
    );
  }

  servers(): ServerReport[] {
    return [...this.#shares.values()].flatMap(({ uses }) => uses.servers());
  }

  endSessions(initiator: string, target: string): number {
    const isExport = [...this.#shares.values()].some(({ path }) => path === target);
    return isExport ? this.#nfs.dropConnections(initiator) : 0;
  }

  async close(): Promise<void> {
    await this.#works.close();
    await this.#nfs.close();
    await this.#turns.idle();
    await this.#snapshots.close();
    for (const share of this.#shares.values()) await this.#unmount(share);
    await this.#parts.audit.close();
  }

  async #remove(volume: string): Promise<void> {
    const share = this.#shares.get(volume);
    if (!share) return;
    await this.#nfs.remove(share.served.id);
    await this.#unmount(share);
    this.#shares.delete(volume);
  }

  /** What was committed is in the journal: without the last checkpoint the next mount takes a little longer. */
  async #unmount(share: EngineShare): Promise<void> {
    try {
      await share.unmount();
    } catch (error) {
      this.#setup.onProblem(`share ${share.volume.id} was not unmounted cleanly`, error);
    }
  }

  /** A volume that cannot be read now is tried again later: clients wait for it. */
  async #mount(share: EngineShare): Promise<void> {
    if (share.isMounted || share.volume.isLocked) return;
    try {
      await share.mount(this.#shares.size > CROWDED ? CROWDED_CACHE_BYTES : CACHE_BYTES);
    } catch (error) {
      if (!isOfDevice(error)) {
        await this.#remove(share.volume.id);
        throw error;
      }
      this.#reportProblem(share, reasonOf(error));
    }
  }

  #retry(volume: string): void {
    const done = this.#turns.run(volume, async () => {
      const share = this.#shares.get(volume);
      if (share) await this.#mount(share);
    });
    done.catch((error: unknown) => this.#setup.onProblem(`share ${volume} cannot be mounted`, error));
  }

  /** Once, not at every attempt. */
  #reportProblem(share: EngineShare, problem: string): void {
    if (share.problem === problem) return;
    share.problem = problem;
    const { id, pool } = share.volume;
    const reason = `Share ${id} cannot be mounted now: ${problem}`;
    this.#setup.onEvent({ type: 'background-error', pool: pool.id, reason });
  }

  #get(volume: string): EngineShare {
    const share = this.#shares.get(volume);
    if (share) return share;
    throw new EngineError('not-found', `Volume ${volume} is not served as a share.`);
  }

  #volume(id: string): ShareVolume {
    const volume = this.#setup.source.volume(id);
    if (volume) return volume;
    throw new EngineError('not-found', `There is no volume ${id}.`);
  }

  #inTurn<T>(volume: string, work: () => Promise<T>): Promise<T> {
    return translateErrors(() => this.#turns.run(volume, work));
  }
}

/** Not of what is on it. */
function isOfDevice(error: unknown): boolean {
  return (
    isStorageError(error, 'drive-failed', 'group-failed', 'unreadable', 'locked', 'pool-full', 'no-space') ||
    (error instanceof FsError && (error.code === 'EIO' || error.code === 'ENOSPC'))
  );
}

/** Names that are no names, or that another share has. */
function named(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (error instanceof RangeError) throw new EngineError('invalid', `${error.message}.`);
    throw error;
  }
}

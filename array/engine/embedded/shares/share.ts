import { createHash } from 'node:crypto';
import { type NfsExport, type SnapshotSource, VolumeFilesystem } from '@granary/protocols/nfs';
import { Filesystem } from '@granary/storage/filesystem';
import { EngineError } from '../../errors.ts';
import type { ShareReport } from '../../report.ts';
import type { QuotaSwitches, ServedShare } from '../../shares.ts';
import type { ShareFigures, ShareVolume } from '../setup.ts';
import type { ShareAuditLogs } from './audit/audit-logs.ts';
import { AuditedFilesystem } from './audit/audited-filesystem.ts';
import { ClientUses } from './client-use.ts';
import { FencedDevice } from './fenced-device.ts';
import type { ShareRecalls } from './files/recalls.ts';
import { IoCounter } from './io-counter.ts';
import type { OnIo, ServedFilesystem, ServedFilesystemOptions } from './served-filesystem.ts';
import { ShareAccess } from './share-access.ts';

const EXPORTS = '/export';

interface Mount {
  readonly filesystem: Filesystem;
  readonly device: FencedDevice;
}

export interface ShareParts {
  readonly recalls: ShareRecalls;
  readonly audit: ShareAuditLogs;
}

/** One share: how it is served, and the filesystem behind it while its volume can be used. */
export class EngineShare {
  readonly volume: ShareVolume;
  readonly served: ServedFilesystem;
  readonly io = new IoCounter();
  readonly uses = new ClientUses();
  /** Of clients, also from its snapshots. */
  readonly onIo: OnIo = ({ client }, kind, bytes, milliseconds) => {
    this.io.add(kind, bytes, milliseconds);
    this.volume.counted(kind, bytes);
    const server = this.#serverOf(client);
    if (client !== undefined && server !== undefined) this.uses.add(client, server, kind, bytes, milliseconds);
  };
  /** Why it could not be mounted the last time. */
  problem: string | undefined;
  #record: ServedShare;
  #access: ShareAccess;
  #mount: Mount | undefined;
  #quotas: QuotaSwitches = { user: false, group: false, project: false };

  /** Throws `invalid` for clients that are no addresses. */
  constructor(volume: ShareVolume, record: ServedShare, { recalls, audit }: ShareParts) {
    this.volume = volume;
    this.#record = record;
    this.#access = new ShareAccess(record);
    const options: ServedFilesystemOptions = {
      id: idOf(volume.id),
      onIo: this.onIo,
      onArchived: async (error) => {
        const { size } = await this.filesystem.attributes(error.inode, error.generation);
        await recalls.wait(volume.id, error, size);
      },
      onUse: ({ client }) => {
        const server = this.#serverOf(client);
        if (client !== undefined && server !== undefined) this.uses.of(client, server);
      },
    };
    this.served = new AuditedFilesystem(options, {
      isOn: () => this.#record.isAudited,
      pathOf: (inode) => this.filesystem.pathOf(inode),
      record: (entry) => audit.record(volume.id, entry),
    });
  }

  get record(): ServedShare {
    return this.#record;
  }

  get isMounted(): boolean {
    return this.#mount !== undefined;
  }

  /** Throws when the volume cannot be used now. */
  get filesystem(): Filesystem {
    if (this.#mount) return this.#mount.filesystem;
    const { id, isLocked } = this.volume;
    if (isLocked) throw new EngineError('locked', `Volume ${id} is locked; give the encryption password first.`);
    throw new EngineError('failed', `Share ${id} cannot be mounted; see to its pool.`);
  }

  follow(record: ServedShare): void {
    this.#access = new ShareAccess(record);
    this.#record = record;
  }

  /** The first one. */
  get path(): string {
    return `${EXPORTS}/${this.#record.exportNames[0] ?? ''}`;
  }

  /** As the NFS server has it: who may come is asked for each request. */
  exported(snapshots: SnapshotSource): NfsExport {
    return {
      paths: this.#record.exportNames.map((name) => `${EXPORTS}/${name}`),
      filesystem: this.served,
      snapshots,
      authorise: (address) => this.#access.of(address),
    };
  }

  async mount(cacheBytes: number): Promise<void> {
    if (this.#mount) return;
    const device = new FencedDevice(this.volume);
    try {
      const updatesAccessTimes = () => this.#record.updatesAccessTimes;
      const filesystem = await Filesystem.mount(device, { cacheBytes, updatesAccessTimes });
      this.#quotas = await filesystem.quotas.state();
      await this.served.resume(await VolumeFilesystem.of(filesystem));
      this.#mount = { filesystem, device };
    } catch (error) {
      await device.raise();
      throw error;
    }
    this.problem = undefined;
    this.volume.figures = this.#figures();
    // The volume may have grown while it was not mounted. The call that expands it reports a failure.
    await this.#mount.filesystem.grow().catch(() => undefined);
  }

  /** Requests wait, and nothing touches the volume afterwards. What was not committed is gone. */
  async abandon(): Promise<void> {
    await this.served.suspend();
    await this.#fence();
  }

  /** What was written is in its place afterwards, and nothing touches the volume. */
  async unmount(): Promise<void> {
    await this.served.suspend();
    try {
      await this.#mount?.filesystem.unmount();
    } finally {
      await this.#fence();
    }
  }

  async setQuotaState(state: QuotaSwitches): Promise<void> {
    await this.filesystem.quotas.setState(state);
    this.#quotas = state;
    this.volume.changed();
  }

  #serverOf(client: string | undefined): string | undefined {
    return client === undefined ? undefined : this.#access.of(client)?.server;
  }

  async #fence(): Promise<void> {
    const mount = this.#mount;
    this.#mount = undefined;
    this.volume.figures = undefined;
    await mount?.device.raise();
  }

  #figures(): ShareFigures {
    const report = () => this.#report();
    const { io } = this;
    return {
      get share() {
        return report();
      },
      get io() {
        return io.totals();
      },
      get latencies() {
        return io.latencies();
      },
    };
  }

  #report(): ShareReport {
    const { inodes: files, totalBytes, freeBytes, availableBytes } = this.filesystem.statistics();
    return { files, totalBytes, usedBytes: totalBytes - freeBytes, availableBytes, quotas: this.#quotas };
  }
}

/**
 * By the volume, not by what is in it: a clone holds the filesystem it was made from, but is another one to its clients.
 * It is part of every file handle, so it must be the same after every restart.
 */
function idOf(volume: string): bigint {
  return createHash('sha256').update(`share ${volume}`).digest().readBigUInt64BE() || 1n;
}

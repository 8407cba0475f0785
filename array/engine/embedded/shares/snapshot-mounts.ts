import { createHash } from 'node:crypto';
import type * as nfs from '@granary/protocols/nfs';
import { VolumeFilesystem } from '@granary/protocols/nfs';
import type { BlockDevice } from '@granary/storage';
import { Filesystem } from '@granary/storage/filesystem';
import { EngineError } from '../../errors.ts';
import { FencedDevice } from './fenced-device.ts';
import type { ArchivedContents } from './files/archived-contents.ts';
import { ServedFilesystem } from './served-filesystem.ts';
import type { EngineShare } from './share.ts';

const MOUNTED_MAX = 8;
/** Listings of all files go through names in no order: with less they read the same nodes again and again. */
const CACHE_BYTES = 16 * 1024 * 1024;
const IDLE_MS_MAX = 60_000;
const WATCH_MS = 15_000;

interface SnapshotMount {
  readonly snapshot: string;
  readonly device: FencedDevice;
  readonly filesystem: Promise<Filesystem>;
  users: number;
  usedAt: number;
}

/**
 * Snapshots of shares, mounted read-only when a client reads them. A few stay mounted; those that were not used for
 * a while, and any before it is deleted, are let go.
 */
export class SnapshotMounts {
  readonly #device: (snapshot: string) => BlockDevice | undefined;
  readonly #archived: ArchivedContents;
  readonly #mounts = new Map<string, SnapshotMount>();
  /** As protocols see them; by snapshot. */
  readonly #served = new Map<string, ServedFilesystem>();
  #watch: NodeJS.Timeout | undefined;

  constructor(device: (snapshot: string) => BlockDevice | undefined, archived: ArchivedContents) {
    this.#device = device;
    this.#archived = archived;
  }

  /** What the directory `.snapshot` of a share shows. */
  sourceOf(share: EngineShare): nfs.SnapshotSource {
    const idOfEach = () =>
      share.record.snapshots.map(({ id, name }) => ({ id, listing: { name, filesystemId: filesystemIdOf(id) } }));
    return {
      list: () => idOfEach().map(({ listing }) => listing),
      open: (wanted) => {
        const found = idOfEach().find(({ listing }) => listing.filesystemId === wanted);
        return found && this.#open(found.id, share);
      },
    };
  }

  /** The snapshot stays mounted for as long as the work takes. */
  async use<T>(snapshot: string, work: (filesystem: Filesystem) => Promise<T>): Promise<T> {
    const mount = this.#mount(snapshot);
    if (mount === undefined) throw new EngineError('not-found', `There is no snapshot ${snapshot}.`);
    mount.users += 1;
    try {
      return await work(await mount.filesystem);
    } finally {
      mount.users -= 1;
      mount.usedAt = performance.now();
    }
  }

  /** Resolves when it has no readers. */
  async remove(snapshot: string): Promise<void> {
    const mount = this.#mounts.get(snapshot);
    if (mount) await this.#unmount(mount);
    this.#served.delete(snapshot);
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    for (const mount of [...this.#mounts.values()]) await this.#unmount(mount);
  }

  async #open(snapshot: string, share: EngineShare): Promise<nfs.Filesystem | undefined> {
    const known = this.#mounts.get(snapshot);
    const served = this.#served.get(snapshot);
    if (known !== undefined && served?.isUsable === true) {
      known.usedAt = performance.now();
      return served;
    }
    const mount = this.#mount(snapshot);
    if (mount === undefined) return undefined;
    const fresh = served ?? this.#newServed(snapshot, share);
    this.#served.set(snapshot, fresh);
    await fresh.resume(await VolumeFilesystem.of(await mount.filesystem));
    return fresh;
  }

  /** Nothing can be brought back to a snapshot, so what was archived before it is read from its object. */
  #newServed(snapshot: string, { onIo, volume }: EngineShare): ServedFilesystem {
    return new ServedFilesystem({
      id: filesystemIdOf(snapshot),
      onIo,
      readArchived: async ({ inode, archive }, offset, into) => {
        const { size: sizeBytes } = await this.use(snapshot, async (filesystem) => filesystem.attributes(inode));
        return this.#archived.read({ volume: volume.id, archive, sizeBytes }, offset, into);
      },
    });
  }

  #mount(snapshot: string): SnapshotMount | undefined {
    const known = this.#mounts.get(snapshot);
    if (known) return known;
    const found = this.#device(snapshot);
    if (found === undefined) return undefined;
    const device = new FencedDevice(found);
    const filesystem = Filesystem.mount(device, { cacheBytes: CACHE_BYTES });
    const mount = { snapshot, device, filesystem, users: 0, usedAt: performance.now() };
    this.#mounts.set(snapshot, mount);
    filesystem.catch(() => this.#mounts.delete(snapshot));
    this.#watch ??= setInterval(() => this.#letIdleGo(performance.now() - IDLE_MS_MAX), WATCH_MS).unref();
    if (this.#mounts.size > MOUNTED_MAX) this.#makeRoom();
    return mount;
  }

  #makeRoom(): void {
    const idle = [...this.#mounts.values()].filter(({ users }) => users === 0);
    const [oldest] = idle.sort((one, other) => one.usedAt - other.usedAt);
    if (oldest) void this.#unmount(oldest);
  }

  #letIdleGo(before: number): void {
    for (const mount of this.#mounts.values()) {
      if (mount.users === 0 && mount.usedAt < before) void this.#unmount(mount);
    }
    if (this.#mounts.size > 0) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  async #unmount(mount: SnapshotMount): Promise<void> {
    this.#mounts.delete(mount.snapshot);
    await this.#served.get(mount.snapshot)?.suspend();
    await mount.device.raise();
  }
}

/** The same after every restart, since file handles hold it. */
function filesystemIdOf(snapshot: string): bigint {
  return createHash('sha256').update(`snapshot ${snapshot}`).digest().readBigUInt64BE() || 1n;
}

import type {
  ChangedRange,
  Engine,
  NewSnapshot,
  SnapshotSizes,
  NewVolume,
  Reduction,
  VolumeCaps,
} from '../../engine/engine.ts';
import { EngineError } from '../../engine/errors.ts';
import type { IoTotals, Report, ShareReport, VolumeReport } from '../../engine/report.ts';
import type { ServedShare } from '../../engine/shares.ts';

const NOTHING = { count: 0, bytes: 0, microseconds: 0 };
const IDLE: IoTotals = { reads: NOTHING, writes: NOTHING };

const FORMAT_BYTES = 65_536;

function emptyShare(totalBytes: number): ShareReport {
  const quotas = { user: false, group: false, project: false };
  return { files: 1, totalBytes, usedBytes: FORMAT_BYTES, availableBytes: totalBytes - FORMAT_BYTES, quotas };
}

/** Volumes without bytes, whose figures a test sets as it likes. */
export class FakeVolumeEngine {
  readonly volumes = new Map<string, VolumeReport>();
  readonly caps = new Map<string, VolumeCaps>();
  readonly reductions = new Map<string, Reduction>();
  readonly keys = new Map<string, Uint8Array>();
  /** Those that show data which is counted with no volume, as clones and their sources do. */
  readonly sharing = new Set<string>();
  /** What volumes show that lies in several layers. */
  readonly shown = new Map<string, number>();
  /** Volumes with a filesystem in them. */
  readonly formatted = new Set<string>();
  readonly shares = new Map<string, ServedShare>();
  readonly #snapshots = new Map<string, string>();
  /** Thrown by the next call that changes something. */
  failure: Error | undefined;
  /** Thrown by the next call of that name. */
  readonly failures = new Map<string, Error>();

  readonly kind = 'fake';

  get reduction(): this {
    return this;
  }

  get encryption(): this {
    return this;
  }

  /** As the array sees it; what a test does not need is not there. */
  get asEngine(): Engine {
    return this as unknown as Engine;
  }

  /** What a restart of the array does to an engine: keys, caps and mounts are gone. */
  restart(): void {
    for (const id of this.keys.keys()) this.set(id, { isLocked: true });
    this.keys.clear();
    this.caps.clear();
    this.shares.clear();
  }

  set(id: string, changes: Partial<VolumeReport>): void {
    this.volumes.set(id, { ...this.#get(id), ...changes });
  }

  async report(): Promise<Report> {
    const volumes = [...this.volumes.values()];
    return { version: 1, drives: [], groups: [], pools: [], volumes, sessions: [], servers: [], controllers: [] };
  }

  async shownBytes(id: string): Promise<number> {
    return this.shown.get(id) ?? this.#get(id).ownBytes;
  }

  async volume(id: string): Promise<VolumeReport> {
    return this.#get(id);
  }

  async createVolume({ id, pool, sizeBytes, key, compression, deduplication }: NewVolume): Promise<void> {
    this.#fail();
    this.volumes.set(id, {
      id,
      pool,
      sizeBytes,
      ownBytes: 0,
      snapshotBytes: 0,
      sharedBytes: 0,
      isLocked: false,
      io: IDLE,
      sizes: null,
      share: null,
    });
    this.reductions.set(id, { compression, deduplication });
    if (key) this.keys.set(id, key);
  }

  async deleteVolume(id: string): Promise<void> {
    this.#fail();
    if (this.shares.has(id)) throw new EngineError('conflict', `Volume ${id} is mounted.`);
    this.volumes.delete(id);
    this.formatted.delete(id);
  }

  async formatShare(volume: string): Promise<void> {
    this.#fail('formatShare');
    this.set(volume, { ownBytes: Math.max(this.#get(volume).ownBytes, FORMAT_BYTES) });
    this.formatted.add(volume);
  }

  async putShare(share: ServedShare): Promise<void> {
    const { sizeBytes } = this.#get(share.volume);
    if (!this.formatted.has(share.volume))
      throw new EngineError('invalid', `Volume ${share.volume} has no filesystem.`);
    this.#fail('putShare');
    this.shares.set(share.volume, share);
    this.set(share.volume, { share: emptyShare(sizeBytes) });
  }

  async removeShare(volume: string): Promise<void> {
    this.#fail('removeShare');
    this.shares.delete(volume);
    if (this.volumes.has(volume)) this.set(volume, { share: null });
  }

  async takeSnapshots(wanted: readonly NewSnapshot[]): Promise<SnapshotSizes> {
    for (const { volume, snapshot } of wanted) this.#snapshots.set(snapshot, volume);
    return wanted.map(({ volume }) => this.#get(volume).sizeBytes);
  }

  async deleteSnapshot(id: string): Promise<void> {
    this.#snapshots.delete(id);
  }

  async changes(_from: string | undefined, to: string): Promise<readonly ChangedRange[]> {
    const isHeld = this.sharing.has(this.#snapshots.get(to) ?? '');
    return isHeld ? [{ offset: 0, length: 4096, mapped: true }] : [];
  }

  async cloneSnapshot(snapshot: string, volume: string): Promise<void> {
    this.#fail();
    const source = this.#get(this.#snapshots.get(snapshot) ?? '');
    this.volumes.set(volume, { ...source, id: volume, ownBytes: 0, snapshotBytes: 0, sharedBytes: 0 });
    for (const id of [source.id, volume]) this.sharing.add(id);
    if (this.formatted.has(source.id)) this.formatted.add(volume);
  }

  async expandVolume(id: string, sizeBytes: number): Promise<void> {
    this.#fail();
    this.set(id, { sizeBytes });
  }

  async setCaps(id: string, caps: VolumeCaps): Promise<void> {
    this.#get(id);
    this.caps.set(id, caps);
  }

  async setReduction(id: string, reduction: Reduction): Promise<void> {
    this.#fail();
    this.reductions.set(id, reduction);
  }

  async unlockVolume(id: string, key: Uint8Array): Promise<void> {
    this.set(id, { isLocked: false });
    this.keys.set(id, key);
  }

  #get(id: string): VolumeReport {
    const report = this.volumes.get(id);
    if (!report) throw new EngineError('not-found', `There is no volume ${id}.`);
    return report;
  }

  #fail(method = ''): void {
    const failure = this.failures.get(method) ?? this.failure;
    this.failures.delete(method);
    this.failure = undefined;
    if (failure) throw failure;
  }
}

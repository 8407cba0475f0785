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
import type { IoTotals, Report, VolumeReport } from '../../engine/report.ts';

const NOTHING = { count: 0, bytes: 0, microseconds: 0 };
const IDLE: IoTotals = { reads: NOTHING, writes: NOTHING };

/** Volumes without bytes, whose figures a test sets as it likes. */
export class FakeEngine {
  readonly volumes = new Map<string, VolumeReport>();
  readonly caps = new Map<string, VolumeCaps>();
  readonly reductions = new Map<string, Reduction>();
  readonly keys = new Map<string, Uint8Array>();
  /** Those that show data which is counted with no volume, as clones and their sources do. */
  readonly sharing = new Set<string>();
  /** What volumes show that lies in several layers. */
  readonly shown = new Map<string, number>();
  readonly #snapshots = new Map<string, string>();
  /** Thrown by the next call that changes something. */
  failure: Error | undefined;

  /** As the array sees it; what a test does not need is not there. */
  get asEngine(): Engine {
    return this as unknown as Engine;
  }

  /** What a restart of the array does to an engine: keys and caps are gone. */
  restart(): void {
    for (const id of this.keys.keys()) this.set(id, { isLocked: true });
    this.keys.clear();
    this.caps.clear();
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
    this.volumes.delete(id);
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

  #fail(): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure;
  }
}

import type { ChangedRange, MoveWork, NewSnapshot, SnapshotSizes } from '../../engine/engine.ts';
import { EngineError } from '../../engine/errors.ts';
import { FakeVolumeEngine } from '../../volumes/testing/fake-engine.ts';

interface FakeSnapshot {
  readonly volume: string;
  readonly version: number;
}

/** Volumes whose only content is how often they were written. */
export class FakeSnapshotEngine extends FakeVolumeEngine {
  readonly snapshots = new Map<string, FakeSnapshot>();
  /** How many each call took. */
  readonly takes: number[] = [];
  /** Volumes of which no snapshot can be taken. */
  readonly broken = new Set<string>();
  readonly held = new Set<string>();
  /** Runs when snapshots were taken, before that is answered. */
  afterTake: (() => Promise<void> | void) | undefined;
  deleteFailure: Error | undefined;
  readonly #versions = new Map<string, number>();

  write(volume: string): void {
    this.#versions.set(volume, this.#version(volume) + 1);
  }

  override async takeSnapshots(wanted: readonly NewSnapshot[]): Promise<SnapshotSizes> {
    const broken = wanted.find(({ volume }) => this.broken.has(volume));
    if (broken) throw new EngineError('failed', `Volume ${broken.volume} cannot be read.`);
    this.takes.push(wanted.length);
    for (const { volume, snapshot } of wanted) {
      this.snapshots.set(snapshot, { volume, version: this.#version(volume) });
    }
    const sizes = await Promise.all(wanted.map(async ({ volume }) => (await this.volume(volume)).sizeBytes));
    await this.afterTake?.();
    return sizes;
  }

  override async deleteSnapshot(id: string): Promise<void> {
    if (this.deleteFailure) throw this.deleteFailure;
    this.snapshots.delete(id);
  }

  override async cloneSnapshot(snapshot: string, volume: string): Promise<void> {
    const { volume: source } = this.#snapshot(snapshot);
    const report = await this.volume(source);
    this.volumes.set(volume, { ...report, id: volume, ownBytes: 0, snapshotBytes: 0, sharedBytes: 0 });
  }

  /** Called with the snapshot it is to become, and the one since which it is reverted once only. */
  onRevert: ((snapshot: string, unlessSince?: string) => Promise<void> | void) | undefined;

  async revertVolume(snapshot: string, unlessSince?: string): Promise<void> {
    await this.onRevert?.(snapshot, unlessSince);
    const { volume, version } = this.#snapshot(snapshot);
    this.#versions.set(volume, version);
  }

  override async changes(from: string | undefined, to: string): Promise<readonly ChangedRange[]> {
    const before = from === undefined ? 0 : this.#snapshot(from).version;
    return before === this.#snapshot(to).version ? [] : [{ offset: 0, length: 4096, mapped: true }];
  }

  async holdWrites(volumes: readonly string[]): Promise<void> {
    for (const volume of volumes) this.held.add(volume);
  }

  async releaseWrites(volumes: readonly string[]): Promise<void> {
    for (const volume of volumes) this.held.delete(volume);
  }

  async moveVolume(id: string, pool: string, _withSnapshots: boolean, _work: MoveWork): Promise<void> {
    this.set(id, { pool });
  }

  #version(volume: string): number {
    return this.#versions.get(volume) ?? 0;
  }

  #snapshot(id: string): FakeSnapshot {
    const snapshot = this.snapshots.get(id);
    if (!snapshot) throw new EngineError('not-found', `There is no snapshot ${id}.`);
    return snapshot;
  }
}

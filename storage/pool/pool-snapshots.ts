import type { BlockDevice } from '../block-device.ts';
import { StorageError } from '../errors.ts';
import { type ChangedRange, difference } from '../volume/difference.ts';
import { type Layer, stackOf } from '../volume/layers.ts';
import { SnapshotDevice } from '../volume/snapshot-device.ts';
import type { Volume } from '../volume/volume.ts';
import type { PoolState } from './state.ts';
import type { PoolVolumes } from './pool-volumes.ts';
import { chargedFor } from './usage.ts';

export interface Snapshot {
  readonly id: string;
  readonly volumeId: string;
  readonly sizeBytes: number;
  readonly takenAt: Date;
  layer: Layer;
}

/** There may be a hundred thousand: a number takes a sixth of the memory of a `Date`. */
class TakenSnapshot implements Snapshot {
  readonly id: string;
  readonly volumeId: string;
  readonly sizeBytes: number;
  layer: Layer;
  readonly #takenAtMs: number;

  constructor({ id, volumeId, sizeBytes, layer, takenAt }: Snapshot) {
    this.id = id;
    this.volumeId = volumeId;
    this.sizeBytes = sizeBytes;
    this.layer = layer;
    this.#takenAtMs = takenAt.getTime();
  }

  get takenAt(): Date {
    return new Date(this.#takenAtMs);
  }
}

export interface WantedSnapshot {
  readonly volumeId: string;
  readonly id: string;
  /** The part of the volume that it covers. Default: all of it. */
  readonly sizeBytes?: number;
}

/** The snapshots of a pool by their id. */
export class PoolSnapshots {
  readonly #state: PoolState;
  readonly #volumes: PoolVolumes;
  readonly #snapshots = new Map<string, Snapshot>();
  readonly #byVolume = new Map<string, Set<Snapshot>>();

  constructor(state: PoolState, volumes: PoolVolumes) {
    this.#state = state;
    this.#volumes = volumes;
    for (const { id, volume, layer, sizeBytes, takenAt } of state.catalogue.snapshots()) {
      // Shares the volume's string instead of keeping one for each row.
      const volumeId = volumes.find(volume)?.id ?? volume;
      this.#add({ id, volumeId, layer: state.layers.get(layer), sizeBytes, takenAt });
    }
  }

  get(id: string): Snapshot {
    const snapshot = this.#snapshots.get(id);
    if (!snapshot) throw new StorageError('not-found', `There is no snapshot ${id} in the pool.`);
    return snapshot;
  }

  find(id: string): Snapshot | undefined {
    return this.#snapshots.get(id);
  }

  all(): IterableIterator<Snapshot> {
    return this.#snapshots.values();
  }

  /** Of one volume, oldest first. */
  list(volumeId: string): Snapshot[] {
    return [...(this.#byVolume.get(volumeId) ?? [])];
  }

  /**
   * Takes snapshots of several volumes at one point in time: between the first and the last no write is acknowledged.
   */
  async take(wanted: readonly WantedSnapshot[], takenAt: Date): Promise<void> {
    const volumes = wanted.map(({ volumeId }) => this.#volumes.requireStable(volumeId));
    await this.#take(wanted, volumes, takenAt);
  }

  /** Takes an internal snapshot that a move copies up to. */
  async mark(volume: Volume, id: string): Promise<void> {
    await this.#take([{ volumeId: volume.id, id }], [volume], new Date());
  }

  /** Resolves when the deletion is durable; the space is freed in the background. */
  async delete(id: string): Promise<void> {
    this.#volumes.requireStable(this.get(id).volumeId);
    await this.unmark(id);
  }

  async unmark(id: string): Promise<void> {
    const snapshot = this.get(id);
    this.#snapshots.delete(id);
    this.#byVolume.get(snapshot.volumeId)?.delete(snapshot);
    snapshot.layer.snapshotId = undefined;
    this.#recordChange(snapshot.volumeId);
    const { volumeId, snapshotId } = chargedFor(snapshot.layer) ?? {};
    this.#recordChange(snapshotId === undefined ? volumeId : this.find(snapshotId)?.volumeId);
    this.#state.catalogue.removeSnapshot(id);
    // The name is removed durably before the data: folding may overwrite blocks that only the snapshot refers to.
    await this.#state.commits.commitDeletion();
    this.#state.folding.foldIfUnreferenced(snapshot.layer);
  }

  async #take(wanted: readonly WantedSnapshot[], volumes: readonly Volume[], takenAt: Date): Promise<void> {
    if (Number.isNaN(takenAt.getTime())) throw new StorageError('invalid', 'A snapshot needs a time it was taken at.');
    this.#refuseTaken(wanted);
    this.#state.commits.requireSpace();
    await closeAll(volumes, () => {
      // Checked again: while writes were drained, the name may have been taken or the volume deleted.
      this.#refuseTaken(wanted);
      for (const { volumeId } of wanted) this.#volumes.get(volumeId);
      for (const [index, { id, sizeBytes }] of wanted.entries()) {
        const volume = volumes[index];
        if (volume) this.#freeze(volume, id, sizeBytes ?? volume.sizeBytes, takenAt);
      }
    });
    await this.#state.commits.commit();
  }

  clone(id: string, volumeId: string): Promise<Volume> {
    return this.#volumes.createOver(volumeId, this.get(id));
  }

  /**
   * Sets the volume to the content of the snapshot; the snapshot stays. Not where the volume was reverted after
   * `unlessSince` was taken: its data no longer lies over that snapshot's.
   */
  async revert(id: string, unlessSince?: string): Promise<void> {
    const volume = this.#volumes.requireStable(this.get(id).volumeId);
    const before = await volume.gate.closedWhile(() => {
      if (unlessSince !== undefined && !stackOf(volume.layer).includes(this.get(unlessSince).layer)) return undefined;
      // Read only now: while writes were drained, folding may have replaced either layer.
      return this.#volumes.restart(volume, this.get(id).layer);
    });
    await this.#state.commits.commit();
    if (before) this.#state.folding.foldIfUnreferenced(before);
  }

  /** The snapshot as a read-only device. */
  open(id: string): BlockDevice {
    const snapshot = this.get(id);
    return new SnapshotDevice({
      id,
      sizeBytes: snapshot.sizeBytes,
      formats: this.#state.formats,
      layer: () => this.get(id).layer,
      volume: () => this.#volumes.get(snapshot.volumeId),
    });
  }

  /** The ranges that changed between two snapshots, or all data of one snapshot; from an offset on. */
  difference(fromId: string | undefined, toId: string, startOffset = 0): Generator<ChangedRange> {
    const { layer } = this.get(toId);
    const from = fromId === undefined ? undefined : this.get(fromId).layer;
    return difference(this.#state.formats, from, layer, startOffset);
  }

  /** Folding replaced the layer by another. */
  setLayer(id: string, layer: Layer): void {
    const snapshot = this.get(id);
    snapshot.layer = layer;
    layer.snapshotId = id;
    layer.ownerId = snapshot.volumeId;
    this.#state.catalogue.setSnapshotLayer(id, layer.id);
  }

  #refuseTaken(wanted: readonly WantedSnapshot[]): void {
    for (const { id, volumeId, sizeBytes } of wanted) {
      const most = this.#volumes.get(volumeId).sizeBytes;
      if (id !== '' && (sizeBytes === undefined || (sizeBytes > 0 && sizeBytes <= most))) continue;
      throw new StorageError('invalid', `A snapshot needs a name, and shows at most the ${most} bytes of ${volumeId}.`);
    }
    const named = new Set<string>();
    const taken = wanted.find(({ id }) => this.#snapshots.has(id) || named.size === named.add(id).size);
    if (taken) throw new StorageError('conflict', `There is a snapshot ${taken.id} in the pool already.`);
  }

  #freeze(volume: Volume, id: string, sizeBytes: number, takenAt: Date): void {
    const layer = this.#volumes.freeze(volume);
    this.#add({ id, volumeId: volume.id, layer, sizeBytes, takenAt });
    this.#state.catalogue.addSnapshot({ id, volume: volume.id, layer: layer.id, sizeBytes, takenAt });
  }

  #recordChange(volumeId: string | undefined): void {
    const volume = this.#volumes.find(volumeId);
    volume?.changed();
  }

  #add(taken: Snapshot): void {
    const snapshot = new TakenSnapshot(taken);
    snapshot.layer.snapshotId = snapshot.id;
    snapshot.layer.ownerId = snapshot.volumeId;
    this.#snapshots.set(snapshot.id, snapshot);
    const siblings = this.#byVolume.get(snapshot.volumeId) ?? new Set();
    siblings.add(snapshot);
    this.#byVolume.set(snapshot.volumeId, siblings);
  }
}

async function closeAll(volumes: readonly Volume[], work: () => void): Promise<void> {
  const gates = [...new Set(volumes)].map((volume) => volume.gate);
  await Promise.all(gates.map((gate) => gate.close()));
  try {
    work();
  } finally {
    for (const gate of gates) gate.open();
  }
}

import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { StorageError } from '../errors.ts';
import { Xts } from '../kernels/index.ts';
import { BLOCK_BYTES } from '../units.ts';
import { isReducing, type VolumeOptions } from '../volume/format.ts';
import { type Layer, stackOf } from '../volume/layers.ts';
import { Volume } from '../volume/volume.ts';
import { MIXED_FORMATS, type VolumeState } from './catalogue.ts';
import type { PoolState } from './state.ts';

export interface NewVolume {
  readonly id: string;
  readonly sizeBytes: number;
  readonly options?: VolumeOptions;
  /** 64 bytes for AES-256-XTS; the caller keeps it. */
  readonly key?: Buffer;
}

const NO_REDUCTION: VolumeOptions = { compression: false, deduplication: false };
const SIZE_BYTES_MAX = 2 ** 50;

/** The volumes of a pool by their id. */
export class PoolVolumes {
  readonly #state: PoolState;
  readonly #volumes = new Map<string, Volume>();
  readonly #keyChecks = new Map<string, Buffer>();
  readonly #states = new Map<string, VolumeState>();

  constructor(state: PoolState) {
    this.#state = state;
    for (const record of state.catalogue.volumes()) {
      const layer = state.layers.get(record.layer);
      const volume = this.#add(record.id, record.sizeBytes, layer, record.options, record.keyCheck);
      if (!record.state) continue;
      this.#states.set(record.id, record.state);
      volume.close(`is ${record.state}: a move between pools was cut off; settle it first`);
    }
  }

  get(id: string): Volume {
    const volume = this.#volumes.get(id);
    if (!volume) throw new StorageError('not-found', `There is no volume ${id} in the pool.`);
    return volume;
  }

  find(id: string | undefined): Volume | undefined {
    return id === undefined ? undefined : this.#volumes.get(id);
  }

  /** The volume, unless it is being moved: a change now would be missing on the target. */
  requireStable(id: string): Volume {
    const volume = this.get(id);
    if (!volume.isMoving) return volume;
    throw new StorageError('conflict', `Volume ${id} is being moved to another pool; wait for that, or cancel it.`);
  }

  list(): Volume[] {
    return [...this.#volumes.values()];
  }

  optionsOf(id: string): VolumeOptions {
    return this.#volumes.get(id)?.options ?? NO_REDUCTION;
  }

  async create(wanted: NewVolume): Promise<Volume> {
    const options = wanted.options ?? NO_REDUCTION;
    this.#checkNew(wanted.id, wanted.sizeBytes);
    // First, because it refuses bad keys.
    const cipher = wanted.key && new Xts(wanted.key);
    const layer = this.#layerOver(undefined, options);
    const volume = this.#put(wanted.id, wanted.sizeBytes, layer, options, wanted.key && checkOf(wanted.key));
    volume.cipher = cipher;
    return this.#committed(volume);
  }

  /** A volume on a frozen layer: it starts with the layer's content, and shares its key. */
  async createOver(id: string, source: { layer: Layer; sizeBytes: number; volumeId: string }): Promise<Volume> {
    this.#checkNew(id, source.sizeBytes);
    const options = this.optionsOf(source.volumeId);
    const layer = this.#layerOver(source.layer, options);
    const volume = this.#put(id, source.sizeBytes, layer, options, this.#keyChecks.get(source.volumeId));
    volume.cipher = this.#volumes.get(source.volumeId)?.cipher;
    return this.#committed(volume);
  }

  /** An empty volume with the size, options and key of one that is to be moved here; its state records that. */
  async createIncoming(source: Volume, keyCheck: Buffer | undefined): Promise<Volume> {
    this.#checkNew(source.id, source.sizeBytes);
    const layer = this.#state.layers.create(source.layer.format, undefined);
    const volume = this.#put(source.id, source.sizeBytes, layer, source.options, keyCheck, 'incoming');
    volume.cipher = source.cipher;
    return this.#committed(volume);
  }

  /** The state of a move of the volume between pools. */
  stateOf(id: string): VolumeState | undefined {
    return this.#states.get(id);
  }

  async setState(id: string, state: VolumeState | undefined): Promise<void> {
    const before = this.#states.get(id);
    this.#recordState(id, state);
    try {
      await this.#state.commits.commit();
    } catch (error) {
      // The failed change is retried with the next commit; this reverts it there.
      this.#recordState(id, before);
      throw error;
    }
    if (!state) this.get(id).reopen();
  }

  /** Verifies a key of the volume. */
  keyCheckOf(id: string): Buffer | undefined {
    return this.#keyChecks.get(id);
  }

  async setOptions(id: string, options: VolumeOptions): Promise<void> {
    const volume = this.requireStable(id);
    const before = volume.options;
    const frozen = isReducing(options) ? await this.#startReducing(volume, options) : undefined;
    this.#recordOptions(volume, options);
    try {
      await this.#state.commits.commit();
    } catch (error) {
      // The failed change is retried with the next commit; this reverts it there.
      this.#recordOptions(volume, before);
      throw error;
    } finally {
      this.#state.folding.foldIfUnreferenced(frozen);
    }
  }

  /** Unlocks an encrypted volume; a wrong key is refused. */
  unlock(id: string, key: Buffer): void {
    const volume = this.get(id);
    const check = this.#keyChecks.get(id);
    if (!check) throw new StorageError('conflict', `Volume ${id} is not encrypted.`);
    if (!timingSafeEqual(check, checkOf(key)))
      throw new StorageError('invalid', `The key is not that of volume ${id}.`);
    volume.cipher = new Xts(key);
    volume.changed();
    for (const layer of stackOf(volume.layer)) this.#state.folding.foldIfUnreferenced(layer);
  }

  async expand(id: string, sizeBytes: number): Promise<void> {
    const volume = this.requireStable(id);
    checkSize(sizeBytes);
    if (sizeBytes < volume.sizeBytes) {
      throw new StorageError('invalid', `Volume ${id} has ${volume.sizeBytes} bytes and cannot become smaller.`);
    }
    volume.sizeBytes = sizeBytes;
    volume.changed();
    this.#state.catalogue.resizeVolume(id, sizeBytes);
    await this.#state.commits.commit();
  }

  /** Resolves when the deletion is durable; the space is freed in the background. */
  async delete(id: string): Promise<void> {
    const volume = this.requireStable(id);
    volume.close('was deleted');
    await volume.gate.closedWhile(() => undefined);
    this.#remove(volume);
    await this.#state.commits.commitDeletion();
    this.#state.folding.foldIfUnreferenced(volume.layer);
  }

  /** Freezes the top layer and puts a new one over it. The caller holds the volume's gate. */
  freeze(volume: Volume): Layer {
    const frozen = volume.layer;
    assert.ok(frozen.isTop, `layer ${frozen.id} of volume ${volume.id} is written to, but has layers above it`);
    this.setTop(volume, this.#layerOver(frozen, volume.options));
    return frozen;
  }

  /** Puts a new layer over that of a snapshot, in place of the present top, which is returned. */
  restart(volume: Volume, from: Layer): Layer {
    const top = volume.layer;
    this.setTop(volume, this.#layerOver(from, volume.options));
    return top;
  }

  setTop(volume: Volume, layer: Layer): void {
    volume.layer.volumeId = undefined;
    volume.layer = layer;
    layer.volumeId = volume.id;
    layer.ownerId = volume.id;
    volume.changed();
    this.#state.catalogue.setVolumeLayer(volume.id, layer.id);
  }

  /** A reduced layer over the plain one, which is then converted in the background (`conversion.ts`). */
  async #startReducing(volume: Volume, options: VolumeOptions): Promise<Layer | undefined> {
    if (volume.layer.format === 'reduced') return undefined;
    this.#state.commits.requireSpace();
    return volume.gate.closedWhile(() => {
      // Checked again: while writes were drained, the volume may have been deleted, moved, or switched on.
      this.requireStable(volume.id);
      if (volume.layer.format === 'reduced') return undefined;
      this.#recordOptions(volume, options);
      return this.freeze(volume);
    });
  }

  #recordOptions(volume: Volume, options: VolumeOptions): void {
    volume.options = options;
    this.#state.catalogue.setOptions(volume.id, options);
  }

  /** Over a reduced layer there are only reduced ones. */
  #layerOver(below: Layer | undefined, options: VolumeOptions): Layer {
    const isReduced = below?.format === 'reduced' || isReducing(options);
    if (isReduced && below?.format === 'plain') this.#state.catalogue.requireVersion(MIXED_FORMATS);
    return this.#state.layers.create(isReduced ? 'reduced' : 'plain', below);
  }

  #checkNew(id: string, sizeBytes: number): void {
    if (this.#volumes.has(id)) throw new StorageError('conflict', `There is a volume ${id} in the pool already.`);
    checkSize(sizeBytes);
    this.#state.commits.requireSpace();
  }

  #put(
    id: string,
    sizeBytes: number,
    layer: Layer,
    options: VolumeOptions,
    keyCheck: Buffer | undefined,
    state?: VolumeState,
  ): Volume {
    const volume = this.#add(id, sizeBytes, layer, options, keyCheck);
    if (state) this.#states.set(id, state);
    this.#state.catalogue.addVolume({ id, sizeBytes, layer: layer.id, options, keyCheck, state });
    return volume;
  }

  /** Returns a new volume once it is durable; otherwise it is removed. */
  async #committed(volume: Volume): Promise<Volume> {
    try {
      await this.#state.commits.commit();
      return volume;
    } catch (error) {
      volume.close('could not be made');
      this.#remove(volume);
      this.#state.layers.remove(volume.layer);
      throw error;
    }
  }

  #recordState(id: string, state: VolumeState | undefined): void {
    if (state) this.#states.set(id, state);
    else this.#states.delete(id);
    this.#state.catalogue.setVolumeState(id, state);
  }

  #remove(volume: Volume): void {
    this.#volumes.delete(volume.id);
    this.#keyChecks.delete(volume.id);
    this.#states.delete(volume.id);
    volume.layer.volumeId = undefined;
    this.#state.catalogue.removeVolume(volume.id);
  }

  #add(id: string, sizeBytes: number, layer: Layer, options: VolumeOptions, keyCheck: Buffer | undefined): Volume {
    const volume = new Volume({
      id,
      sizeBytes,
      layer,
      formats: this.#state.formats,
      encrypted: keyCheck !== undefined,
      options,
      commit: () => this.#state.commits.commit(),
    });
    layer.volumeId = id;
    layer.ownerId = id;
    this.#volumes.set(id, volume);
    if (keyCheck) this.#keyChecks.set(id, keyCheck);
    return volume;
  }
}

function checkSize(sizeBytes: number): void {
  if (sizeBytes > 0 && sizeBytes <= SIZE_BYTES_MAX && sizeBytes % BLOCK_BYTES === 0) return;
  throw new StorageError(
    'invalid',
    `A volume of ${sizeBytes} bytes is not possible; give a multiple of ${BLOCK_BYTES}.`,
  );
}

/** Verifies a key without revealing it. */
function checkOf(key: Buffer): Buffer {
  return createHmac('sha256', key).update('granary volume key').digest();
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import { StorageError } from '../errors.ts';
import { Xts } from '../kernels/index.ts';
import { BLOCK_BYTES } from '../units.ts';
import type { VolumeOptions } from '../volume/format.ts';
import type { Layer } from '../volume/layers.ts';
import { Volume } from '../volume/volume.ts';
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
export class Volumes {
  readonly #state: PoolState;
  readonly #volumes = new Map<string, Volume>();
  readonly #keyChecks = new Map<string, Buffer>();

  constructor(state: PoolState) {
    this.#state = state;
    for (const record of state.catalogue.volumes()) {
      const layer = state.layers.get(record.layer);
      this.#add(record.id, record.sizeBytes, layer, record.options, record.keyCheck);
    }
  }

  get(id: string): Volume {
    const volume = this.#volumes.get(id);
    if (!volume) throw new StorageError('not-found', `There is no volume ${id} in the pool.`);
    return volume;
  }

  list(): Volume[] {
    return [...this.#volumes.values()];
  }

  optionsOf(id: string): VolumeOptions {
    return this.#volumes.get(id)?.options ?? NO_REDUCTION;
  }

  async create(wanted: NewVolume): Promise<Volume> {
    const options = wanted.options ?? NO_REDUCTION;
    const reduced = options.compression || options.deduplication;
    this.#checkNew(wanted.id, wanted.sizeBytes);
    const layer = this.#state.layers.create(reduced ? 'reduced' : 'plain', undefined);
    const volume = this.#put(wanted.id, wanted.sizeBytes, layer, options, wanted.key && checkOf(wanted.key));
    if (wanted.key) volume.cipher = new Xts(wanted.key);
    await this.#state.commits.commit();
    return volume;
  }

  /** A volume over a frozen layer: it starts as what the layer shows, and shares its key. */
  async createOver(id: string, source: { layer: Layer; sizeBytes: number; volumeId: string }): Promise<Volume> {
    this.#checkNew(id, source.sizeBytes);
    const layer = this.#state.layers.create(source.layer.format, source.layer);
    const options = this.optionsOf(source.volumeId);
    const volume = this.#put(id, source.sizeBytes, layer, options, this.#keyChecks.get(source.volumeId));
    volume.cipher = this.#volumes.get(source.volumeId)?.cipher;
    await this.#state.commits.commit();
    return volume;
  }

  /** An empty volume of another's size, options and key, perhaps in another pool. */
  async createLike(id: string, source: Volume, keyCheck: Buffer | undefined): Promise<Volume> {
    this.#checkNew(id, source.sizeBytes);
    const layer = this.#state.layers.create(source.layer.format, undefined);
    const volume = this.#put(id, source.sizeBytes, layer, source.options, keyCheck);
    volume.cipher = source.cipher;
    await this.#state.commits.commit();
    return volume;
  }

  /** What tells the right key of the volume from a wrong one. */
  keyCheckOf(id: string): Buffer | undefined {
    return this.#keyChecks.get(id);
  }

  async setOptions(id: string, options: VolumeOptions): Promise<void> {
    const volume = this.get(id);
    if (volume.layer.format === 'plain' && (options.compression || options.deduplication)) {
      throw new StorageError('conflict', `Volume ${id} was made without data reduction; copy it to one made with it.`);
    }
    volume.options = options;
    this.#state.catalogue.setOptions(id, options);
    await this.#state.commits.commit();
  }

  /** Gives an encrypted volume its key; a wrong one is refused. */
  unlock(id: string, key: Buffer): void {
    const volume = this.get(id);
    const check = this.#keyChecks.get(id);
    if (!check) throw new StorageError('conflict', `Volume ${id} is not encrypted.`);
    if (!timingSafeEqual(check, checkOf(key)))
      throw new StorageError('invalid', `The key is not that of volume ${id}.`);
    volume.cipher = new Xts(key);
  }

  async expand(id: string, sizeBytes: number): Promise<void> {
    const volume = this.get(id);
    checkSize(sizeBytes);
    if (sizeBytes < volume.sizeBytes) {
      throw new StorageError('invalid', `Volume ${id} has ${volume.sizeBytes} bytes and cannot become smaller.`);
    }
    volume.sizeBytes = sizeBytes;
    this.#state.catalogue.resizeVolume(id, sizeBytes);
    await this.#state.commits.commit();
  }

  /** Resolves when the volume is gone for good; its space comes back in the background. */
  async delete(id: string): Promise<void> {
    const volume = this.get(id);
    volume.close('was deleted');
    await volume.gate.closedWhile(() => undefined);
    this.#volumes.delete(id);
    this.#keyChecks.delete(id);
    volume.layer.volumeId = undefined;
    this.#state.catalogue.removeVolume(id);
    await this.#state.commits.commit();
    this.#state.housekeeping.consider(volume.layer);
  }

  /** The layer that was on top is frozen, and a new one laid over it. The caller holds the volume's gate. */
  freeze(volume: Volume): Layer {
    const frozen = volume.layer;
    this.setTop(volume, this.#state.layers.create(frozen.format, frozen));
    return frozen;
  }

  setTop(volume: Volume, layer: Layer): void {
    volume.layer.volumeId = undefined;
    volume.layer = layer;
    layer.volumeId = volume.id;
    this.#state.catalogue.setVolumeLayer(volume.id, layer.id);
  }

  #checkNew(id: string, sizeBytes: number): void {
    if (this.#volumes.has(id)) throw new StorageError('conflict', `There is a volume ${id} in the pool already.`);
    checkSize(sizeBytes);
  }

  #put(id: string, sizeBytes: number, layer: Layer, options: VolumeOptions, keyCheck: Buffer | undefined): Volume {
    const volume = this.#add(id, sizeBytes, layer, options, keyCheck);
    this.#state.catalogue.addVolume({ id, sizeBytes, layer: layer.id, options, keyCheck });
    return volume;
  }

  #add(id: string, sizeBytes: number, layer: Layer, options: VolumeOptions, keyCheck: Buffer | undefined): Volume {
    const volume = new Volume({
      id,
      sizeBytes,
      layer,
      format: this.#state.formats[layer.format],
      encrypted: keyCheck !== undefined,
      options,
      commit: () => this.#state.commits.commit(),
    });
    layer.volumeId = id;
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

/** Tells the right key from a wrong one without telling the key. */
function checkOf(key: Buffer): Buffer {
  return createHmac('sha256', key).update('granary volume key').digest();
}

import type { BlockDevice } from '../block-device.ts';
import { StorageError } from '../errors.ts';
import { BLOCK_BYTES, type Done } from '../units.ts';
import { checkRange, readUnaligned } from './alignment.ts';
import type { LayerFormats } from './format.ts';
import type { Layer } from './layers.ts';
import { type MappedRun, mappedRuns } from './mapped-runs.ts';
import type { Volume } from './volume.ts';

export interface SnapshotSource {
  readonly id: string;
  readonly sizeBytes: number;
  readonly formats: LayerFormats;
  /** Evaluated for each request: a fold may replace the snapshot's layer. Throws once the snapshot is deleted. */
  readonly layer: () => Layer;
  /** The volume whose key decrypts it. */
  readonly volume: () => Volume;
}

/** A snapshot as a read-only device. */
export class SnapshotDevice implements BlockDevice {
  readonly readOnly = true;
  readonly sizeBytes: number;
  readonly #source: SnapshotSource;

  constructor(source: SnapshotSource) {
    this.#source = source;
    this.sizeBytes = source.sizeBytes;
  }

  read(offset: number, into: Buffer): Done {
    checkRange(offset, into.length, this.sizeBytes);
    const { formats, id } = this.#source;
    const layer = this.#source.layer();
    const format = formats[layer.format];
    const volume = this.#source.volume();
    if (volume.isLocked) throw new StorageError('locked', `Snapshot ${id} is of a locked volume; unlock it first.`);
    const view = { layer, cipher: volume.cipher, isSnapshot: true };
    const aligned = offset % BLOCK_BYTES === 0 && into.length % BLOCK_BYTES === 0;
    return aligned ? format.read(view, offset, into) : readUnaligned(format, view, offset, into);
  }

  write(): Done {
    throw new StorageError('read-only', `Snapshot ${this.#source.id} cannot be written to; make a clone of it.`);
  }

  discard(): Done {
    return this.write();
  }

  async flush(): Promise<void> {
    // Nothing was written.
  }

  mapped(offset: number, length: number, runsMax?: number): MappedRun[] {
    checkRange(offset, length, this.sizeBytes);
    const layer = this.#source.layer();
    return mappedRuns(this.#source.formats[layer.format], layer, offset, length, runsMax);
  }
}

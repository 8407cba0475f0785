import type { Xts } from '../kernels/index.ts';
import type { Done } from '../units.ts';
import type { FormatName, Layer } from './layers.ts';

/** The view of a volume or snapshot: its top layer, and its cipher when it has one. */
export interface LayerView {
  readonly layer: Layer;
  readonly cipher: Xts | undefined;
  /** Apply to writes. */
  readonly options?: VolumeOptions;
  /** A snapshot is read, not the current content of a volume. */
  readonly isSnapshot?: boolean;
}

/**
 * How a read uses the cache. `own`: a volume reads what it wrote. `foreign`: a read through a snapshot, or of a clone
 * below its own layers; cached only on request. `past`: internal reads, which bypass the cache.
 */
export type Caching = 'own' | 'foreign' | 'past';

export function cachingOf(view: LayerView, layer: Layer): Caching {
  return view.isSnapshot !== true && layer.ownerId === view.layer.ownerId ? 'own' : 'foreign';
}

/** How data is written to a layer that is not written to by a volume. */
export interface LayerWriter {
  readonly cipher: Xts | undefined;
  readonly options: VolumeOptions;
}

/** How a volume's bytes are stored. Both reductions can be changed; they apply to later writes. */
export interface VolumeOptions {
  readonly compression: boolean;
  readonly deduplication: boolean;
}

export function isReducing({ compression, deduplication }: VolumeOptions): boolean {
  return compression || deduplication;
}

export type LayerFormats = Readonly<Record<FormatName, LayerFormat>>;

/**
 * How a volume's blocks are stored in layers. Of the layers of a volume, some at the bottom may be plain and those above
 * them reduced, never the other way round (`conversion.ts`). The format of the top layer reads them all. Offsets and
 * lengths are whole blocks. The caller excludes overlapping writes, and excludes writers from every entry that a discard,
 * a merge or a relocation touches.
 */
export interface LayerFormat {
  /** The size of one entry of a layer's map. */
  readonly entryBytes: number;

  read(view: LayerView, offset: number, into: Buffer): Done;
  write(view: LayerView, offset: number, from: Buffer): Done;
  /** Within one page of the map. */
  discard(view: LayerView, offset: number, length: number): Done;

  /** Whether the block holds data in this layer or one below. */
  isMapped(layer: Layer, block: number): boolean;

  /** Whether all blocks of an entry hold data in this layer or those below, or none; `partial` may be either. */
  entryState(layer: Layer, number: number): 'mapped' | 'unmapped' | 'partial';

  /** Releases the bytes of a map entry. */
  release(entry: number): void;

  /** Releases the data of an unreferenced layer, in steps where that may take long. */
  drain?(layer: Layer): Promise<void>;

  /**
   * Merges the two entries into `upper`, where both hold part of it; afterwards `lower` holds nothing there that
   * `upper` does not override. `upper` is the only child of `lower`, and nothing refers to `lower`.
   */
  mergeEntry(lower: Layer, upper: Layer, entry: number): Done;

  /** Moves the entry's bytes to a newly allocated extent. The caller excludes writes to the entry. */
  relocateEntry(layer: Layer, entry: number): Done;
}

/** The extents that a format stores its bytes in. */
export interface ExtentStore {
  /** `undefined` when no extent is free now. */
  allocate(): number | undefined;
  /** Waits until retired extents are free, then allocates one; throws when the pool is full. */
  reclaim(): Promise<number>;
  /** The extent is released after the next commit. */
  retire(extent: number): void;
  /** Default: `past`. */
  read(extent: number, offset: number, into: Buffer, caching?: Caching): Done;
  write(extent: number, offset: number, from: Buffer): Done;
}

import type { Xts } from '../kernels/index.ts';
import type { Done } from '../units.ts';
import type { Layer } from './layers.ts';

/** What a volume or snapshot is read and written through: its uppermost layer, and its cipher when it has one. */
export interface LayerView {
  readonly layer: Layer;
  readonly cipher: Xts | undefined;
  /** Concern what is written. */
  readonly options?: VolumeOptions;
  /** A snapshot is looked at: not what a volume holds now. */
  readonly isSnapshot?: boolean;
}

/**
 * How a read goes about the cache. `own`: a volume reads what it wrote. `foreign`: through a snapshot, or a clone what
 * lies below it; kept only if the cache keeps such. `past`: work inside the pool, which is none of the cache's business.
 */
export type Caching = 'own' | 'foreign' | 'past';

export function cachingOf(view: LayerView, layer: Layer): Caching {
  return view.isSnapshot !== true && layer.ownerId === view.layer.ownerId ? 'own' : 'foreign';
}

/** How a volume's bytes are kept. Both reductions may be switched; they concern what is written from then on. */
export interface VolumeOptions {
  readonly compression: boolean;
  readonly deduplication: boolean;
}

/**
 * How a volume's blocks lie in layers. All volumes of a family (a volume, its snapshots, their clones) share a format.
 * Offsets and lengths are whole blocks. The caller keeps overlapping writes apart, and keeps
 * writers out of every entry that a discard, a merge or a relocation touches.
 */
export interface LayerFormat {
  /** What one entry of a layer's map stands for. */
  readonly entryBytes: number;

  read(view: LayerView, offset: number, into: Buffer): Done;
  write(view: LayerView, offset: number, from: Buffer): Done;
  discard(view: LayerView, offset: number, length: number): Done;

  /** Whether the block holds data in this layer or one below. */
  isMapped(layer: Layer, block: number): boolean;

  /** Whether all blocks of an entry hold data in this layer or those below, or none; `partial` may be either. */
  entryState(layer: Layer, number: number): 'mapped' | 'unmapped' | 'partial';

  /** Gives up the bytes an entry of a map names. */
  release(entry: number): void;

  /** Gives up what a layer holds that nobody looks at any more, bit by bit where that may take long. */
  drain?(layer: Layer): Promise<void>;

  /**
   * Makes the two entries one, in `upper`, where both hold part of it; afterwards `lower` holds nothing there that
   * `upper` does not override. Only layer `upper` stands on `lower`, and nobody looks at `lower` any more.
   */
  mergeEntry(lower: Layer, upper: Layer, entry: number): Done;

  /** Moves the entry's bytes to an extent the store hands out now. Nobody writes to the entry meanwhile. */
  relocateEntry(layer: Layer, entry: number): Done;
}

/** The extents a format keeps its bytes in, and the book it keeps its changes in. */
export interface ExtentStore {
  /** `undefined` when none is free at this moment. */
  allocate(): number | undefined;
  /** Waits until extents that were given up are free, then takes one; refuses when the pool is full. */
  reclaim(): Promise<number>;
  /** The extent is free for others after the next commit. */
  retire(extent: number): void;
  /** `past` the cache unless told. */
  read(extent: number, offset: number, into: Buffer, caching?: Caching): Done;
  write(extent: number, offset: number, from: Buffer): Done;
}

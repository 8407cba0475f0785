import type { PoolCommits } from '../metadata/pool-commits.ts';
import type { LayerFormat } from '../volume/format.ts';
import type { Layers } from '../volume/layers.ts';
import type { ReducedFormat } from '../volume/reduced/reduced-format.ts';
import type { Catalogue } from './catalogue.ts';
import type { Extents } from './extents.ts';
import type { BackgroundFolding } from './background-folding.ts';

/** The parts of an open pool that its volumes, snapshots and evacuations work on. */
export interface PoolState {
  readonly extents: Extents;
  readonly commits: PoolCommits;
  readonly layers: Layers;
  readonly catalogue: Catalogue;
  readonly formats: { readonly plain: LayerFormat; readonly reduced: ReducedFormat };
  readonly folding: BackgroundFolding;
}

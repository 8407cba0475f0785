import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { PoolCommits } from '../metadata/pool-commits.ts';
import { BLOCK_BYTES } from '../units.ts';
import { entriesOf, HOLE, PAGE_MASK } from './extent-map.ts';
import { convertInto } from './conversion.ts';
import type { LayerFormat, LayerWriter } from './format.ts';
import type { Layer, Layers } from './layers.ts';
import type { ReducedFormat } from './reduced/reduced-format.ts';
import type { Volume } from './volume.ts';

/** Entries that may be left to merge while writes are held. */
const MERGES_HELD_MAX = 16;
const ENTRIES_PER_TURN = 4096;

export interface FoldingHost {
  readonly layers: Layers;
  readonly commits: PoolCommits;
  readonly reduced: ReducedFormat;
  formatOf(layer: Layer): LayerFormat;
  /** How the volume that the layer is named by writes; `undefined` while it is locked. */
  writerOf(named: Layer): LayerWriter | undefined;
  /** The pool is being closed: long work stops after the current step. */
  isClosing(): boolean;
  /** The volume whose top the layer is. */
  volumeOf(layer: Layer): Volume | undefined;
  /** The volume or snapshot that referred to layer `from` refers to `to` from now on. */
  rename(from: Layer, to: Layer): void;
}

/**
 * Removes an unreferenced layer from the stack. With no layer above it, its data is released. With one layer above, the
 * two are merged: map entries move, data does not, except where both hold part of one extent. Returns the layers that
 * may be unreferenced now: the layer itself, when there is more of it to convert.
 */
export async function foldAway(host: FoldingHost, layer: Layer): Promise<Layer[]> {
  const { parent } = layer;
  const [above] = layer.children;
  if (above && above.format !== layer.format) return convertInto(host, layer, above);
  const survivor = above ? await foldInto(host, layer, above) : await dropLayer(host, layer);
  await host.commits.commitDeletion();
  return [parent, survivor].filter((candidate) => candidate !== undefined);
}

async function dropLayer(host: FoldingHost, layer: Layer): Promise<Layer | undefined> {
  const format = host.formatOf(layer);
  await format.drain?.(layer);
  assert.ok(layer.isUnreferenced && layer.isTop, 'only an unreferenced top layer is dropped');
  for (const { entry } of entriesOf(layer.map)) format.release(entry);
  host.layers.remove(layer);
  return undefined;
}

async function foldInto(host: FoldingHost, lower: Layer, upper: Layer): Promise<Layer> {
  const volume = host.volumeOf(upper);
  while ((await mergeShared(host, lower, upper, volume)) > MERGES_HELD_MAX);
  if (!volume) {
    await mergeShared(host, lower, upper, undefined);
    return mergeMaps(host, lower, upper);
  }
  return volume.gate.closedWhile(async () => {
    await mergeShared(host, lower, upper, undefined);
    return mergeMaps(host, lower, upper);
  });
}

/** Merges the entries that both layers hold in part; returns their number. */
async function mergeShared(host: FoldingHost, lower: Layer, upper: Layer, volume: Volume | undefined): Promise<number> {
  const format = host.formatOf(upper);
  const blocks = format.entryBytes / BLOCK_BYTES;
  const smaller = lower.map.owned < upper.map.owned ? lower : upper;
  const numbers = [...entriesOf(smaller.map)].map(({ number }) => number);
  let merged = 0;
  for (const [index, number] of numbers.entries()) {
    if (index % ENTRIES_PER_TURN === 0) await setImmediate();
    const merge = () => format.mergeEntry(lower, upper, number);
    // On a volume's top layer, writers must be excluded from the entry meanwhile.
    const done = volume ? volume.lock.run(number * blocks, (number + 1) * blocks, merge) : merge();
    if (!done) continue;
    merged++;
    await done;
  }
  return merged;
}

/** In one turn, so that all of it is in one commit. The smaller map moves into the larger. */
function mergeMaps(host: FoldingHost, lower: Layer, upper: Layer): Layer {
  // Before the first entry moves: an error afterwards would leave extents in two maps.
  assert.ok(lower.isUnreferenced && upper.parent === lower, 'only the layer above reads what is folded into it');
  return lower.map.owned > upper.map.owned ? moveDown(host, lower, upper) : moveUp(host, lower, upper);
}

function moveUp(host: FoldingHost, lower: Layer, upper: Layer): Layer {
  const format = host.formatOf(upper);
  for (const { page, slot, number, entry } of entriesOf(lower.map)) {
    const target = upper.map.makePage(number);
    if ((target.entries[number & PAGE_MASK] ?? HOLE) !== HOLE) {
      format.release(entry);
      continue;
    }
    upper.map.set(target, slot, entry, page.lowBits(slot), page.highBits(slot));
    host.commits.pageChanged(upper.id, target);
  }
  host.layers.remove(lower);
  return upper;
}

/** The upper layer's few entries move down; then the lower layer replaces the upper one. */
function moveDown(host: FoldingHost, lower: Layer, upper: Layer): Layer {
  const format = host.formatOf(upper);
  for (const { page, slot, number, entry } of entriesOf(upper.map)) {
    const target = lower.map.makePage(number);
    format.release(lower.map.set(target, slot, entry, page.lowBits(slot), page.highBits(slot)));
    host.commits.pageChanged(lower.id, target);
  }
  host.rename(upper, lower);
  // Removing the upper layer makes its children those of the lower.
  host.layers.remove(upper);
  return lower;
}

import { EXTENTS_PER_PAGE } from './extent-map.ts';
import type { LayerFormat } from './format.ts';
import type { Layer } from './layers.ts';
import { CHUNKS_PER_EXTENT } from './reduced/plain-below.ts';

/** Bytes of a volume that a page of a map of this format covers. */
export function pageBytesOf({ entryBytes }: LayerFormat): number {
  return EXTENTS_PER_PAGE * entryBytes;
}

/** The pages of a stack of layers, by their index in maps of the top layer's format. */
export class MapPages {
  readonly #stack: readonly Layer[];
  /** Not more than these are there: layers may have the same ones. */
  readonly count: number;

  constructor(stack: readonly Layer[]) {
    this.#stack = stack;
    this.count = stack.reduce((sum, layer) => sum + layer.map.pages.size * this.#spanOf(layer), 0);
  }

  /** Whether some layer has the page. */
  has(index: number): boolean {
    return this.#stack.some((layer) => layer.map.pages.has(Math.floor(index / this.#spanOf(layer))));
  }

  /** Those from `first` to `last`, in order. */
  sorted(first: number, last: number): number[] {
    const found = new Set<number>();
    for (const layer of this.#stack) {
      const span = this.#spanOf(layer);
      for (const own of layer.map.pages.keys()) {
        for (let index = own * span; index < (own + 1) * span; index += 1) {
          if (index >= first && index <= last) found.add(index);
        }
      }
    }
    return [...found].sort((one, other) => one - other);
  }

  /** The same, however short the range is: few pages are looked up, of a few that there are all are sorted. */
  *within(first: number, last: number): Generator<number> {
    if (last - first >= this.count) yield* this.sorted(first, last);
    else for (let index = first; index <= last; index += 1) if (this.has(index)) yield index;
  }

  /** Plain layers may lie below reduced ones, whose pages are shorter. */
  #spanOf(layer: Layer): number {
    return layer.format === this.#stack[0]?.format ? 1 : CHUNKS_PER_EXTENT;
  }
}

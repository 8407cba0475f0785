import type { Db, Page } from '@granary/kernel';
import type { ArrayTools } from '../tools.ts';
import { changesEver, countVolumes, listVolumes, type VolumeFilter } from './listing-repository.ts';
import type { VolumeFacts } from './volume.ts';
import { volumeView, type VolumeSurroundings, type VolumeView } from './view.ts';

interface Shown {
  readonly facts: VolumeFacts;
  readonly around: VolumeSurroundings;
  readonly view: VolumeView;
}

interface Kept {
  readonly shown: Shown[];
  readonly count: number;
}

const ROWS_MAX = 16_384;

/**
 * Pages of records as they were last shown, kept until any row of the database changes: to gather a page of facts costs
 * as much as to write it out, and monitoring clients request the same page repeatedly. A record is made
 * again when its figures change.
 */
export class VolumePages {
  readonly #tools: ArrayTools;
  readonly #around: (volume: string) => VolumeSurroundings;
  readonly #kept = new Map<string, Kept>();
  #rows = 0;
  #changes = -1;

  constructor(tools: ArrayTools, around: (volume: string) => VolumeSurroundings) {
    this.#tools = tools;
    this.#around = around;
  }

  read(filter: VolumeFilter, page: Page): { volumes: VolumeView[]; count: number } {
    const { shown, count } = this.#tools.store.read((db) => this.#find(db, filter, page));
    const volumes = shown.map((each, index) => {
      const around = this.#around(each.facts.name);
      if (isSame(each.around, around)) return each.view;
      const fresh = show(each.facts, around);
      shown[index] = fresh;
      return fresh.view;
    });
    return { volumes, count };
  }

  #find(db: Db, filter: VolumeFilter, page: Page): Kept {
    const changes = changesEver(db);
    if (changes !== this.#changes) this.#clear(changes);
    const key = JSON.stringify([filter, page]);
    const known = this.#kept.get(key);
    if (known) return known;
    const facts = listVolumes(db, filter, page);
    const found = {
      shown: facts.map((each) => show(each, this.#around(each.name))),
      count: countVolumes(db, filter),
    };
    this.#store(key, found);
    return found;
  }

  #store(key: string, found: Kept): void {
    const { length } = found.shown;
    if (this.#rows + length > ROWS_MAX) this.#clear(this.#changes);
    if (length > ROWS_MAX) return;
    this.#rows += length;
    this.#kept.set(key, found);
  }

  #clear(changes: number): void {
    this.#kept.clear();
    this.#rows = 0;
    this.#changes = changes;
  }
}

function show(facts: VolumeFacts, around: VolumeSurroundings): Shown {
  return { facts, around, view: volumeView(facts, around) };
}

function isSame(before: VolumeSurroundings, now: VolumeSurroundings): boolean {
  const isSameReport = before.report === now.report && before.chunkShare === now.chunkShare;
  const isSamePlace = before.place === now.place && before.tenant === now.tenant;
  return isSameReport && isSamePlace && before.lifecycle === now.lifecycle;
}

import { fail, type Db, type Page } from '@granary/kernel';
import type { ArrayId, UserId } from '../ids.ts';
import { findCloud } from '../clouds/repository.ts';
import { interfacesOfArray } from '../networks/index.ts';
import { priceHoldsUntil, priceOf } from '../pricing/price-book.ts';
import { findSeller } from '../providers/repository.ts';
import { findPublicService } from './public-services/repository.ts';
import { publicServiceView } from './public-services/view.ts';
import type { Tools } from '../tools.ts';
import * as repository from './repository.ts';
import type { PortalArray } from './array.ts';
import type { ArrayFilter } from './repository.ts';
import {
  listedView,
  orderedView,
  shownView,
  type ArrayFacts,
  type ListedView,
  type OrderedView,
  type ShownView,
} from './view.ts';

interface Kept {
  readonly ownerId: UserId;
  readonly listed: ListedView;
  readonly shown: ShownView;
  /** When a price that it shows changes; undefined while none is planned. */
  readonly until: number | undefined;
}

const KEPT_MAX = 10_000;

/**
 * Array records as they are shown. This process alone writes them, so they are cached in memory; a service that changes an
 * array (or what its record shows of other things) calls `changed` after the commit.
 */
export class ArrayRecords {
  readonly #tools: Tools;
  readonly #kept = new Map<number, Kept>();
  readonly #counts = new Map<string, number>();

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  changed = (id?: ArrayId): void => {
    this.#counts.clear();
    if (id === undefined) this.#kept.clear();
    else this.#kept.delete(id);
  };

  get(id: ArrayId, scope: UserId | null): ShownView {
    const kept = this.#keep(id);
    if (!kept || (scope !== null && kept.ownerId !== scope)) throw fail('not_found', { kind: 'array', id });
    return kept.shown;
  }

  list(filter: ArrayFilter, page: Page): { arrays: ListedView[]; total: number } {
    const { store } = this.#tools;
    const ids = store.read((db) => repository.listArrayIds(db, filter, page));
    const arrays = ids.flatMap((id) => this.#keep(id)?.listed ?? []);
    return { arrays, total: this.#count(filter) };
  }

  ordered(db: Db, id: ArrayId): OrderedView {
    return orderedView(this.#facts(db, existing(db, id)));
  }

  #count(filter: ArrayFilter): number {
    const key = JSON.stringify(filter);
    let count = this.#counts.get(key);
    if (count === undefined) {
      if (this.#counts.size >= KEPT_MAX) this.#counts.clear();
      count = this.#tools.store.read((db) => repository.countArrays(db, filter));
      this.#counts.set(key, count);
    }
    return count;
  }

  #keep(id: ArrayId): Kept | undefined {
    const now = this.#tools.clock.now();
    const known = this.#kept.get(id);
    if (known && (known.until === undefined || known.until > now)) return known;
    return this.#tools.store.read((db) => {
      const found = repository.findArray(db, id, null);
      if (!found) return undefined;
      const facts = this.#facts(db, found);
      const until = facts.publicService && priceHoldsUntil(db, found.providerId, 'public_objs', now);
      const kept = { ownerId: found.ownerId, listed: listedView(facts), shown: shownView(facts), until };
      if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
      this.#kept.set(id, kept);
      return kept;
    });
  }

  #facts(db: Db, array: PortalArray): ArrayFacts {
    const provider = findSeller(db, array.providerId);
    const cloud = findCloud(db, array.cloudId);
    const service = findPublicService(db, array.id);
    if (!provider || !cloud) throw new Error(`Array ${array.id} has no provider or cloud`);
    return {
      array,
      initialPasscode: this.#tools.vault.unseal(array.initialPasscodeSealed),
      provider,
      inventory: cloud.inventory,
      interfaces: interfacesOfArray(db, array.id),
      publicService:
        service && publicServiceView(service, priceOf(db, array.providerId, 'public_objs', this.#tools.clock.now())),
    };
  }
}

function existing(db: Db, id: ArrayId): PortalArray {
  const found = repository.findArray(db, id, null);
  if (!found) throw fail('not_found', { kind: 'array', id });
  return found;
}

import { badParameter, fail, type Db, type Tx } from '@granary/kernel';
import type { ProviderId } from '../ids.ts';
import { isAdmin, type PortalActor } from '../actor.ts';
import type { Tools } from '../tools.ts';
import { momentOf } from '../moments.ts';
import { findEngineKey, itemName, listPrices, type ItemPrice, type PricedItem } from './items.ts';
import { setPrice } from './price-book.ts';
import { quoted, readPriceFile, rowProblem, type FilePrice } from './price-file.ts';
import { findPricedProvider, listPricedProviders, type PricedProvider } from './priced-provider.ts';
import { deletePricesFrom, listAllPrices, listPricesAt, type StoredPrice } from './repository.ts';

export interface NewFlavorPrice {
  readonly providerId: ProviderId;
  /** The engine: its id, `nova_id_<n>`, or its key. */
  readonly flavor: string;
  readonly price: string;
}

export interface DatedPrice extends StoredPrice {
  readonly state: 'past' | 'present' | 'planned';
}

export interface EnginePrices {
  readonly provider: PricedProvider;
  readonly engines: readonly { readonly key: string; readonly price: string; readonly available: boolean }[];
}

/** The price books of the providers. Prices have a history: a change holds from the moment it is made, or from the one it names. */
export class PricingService {
  readonly #tools: Pick<Tools, 'store' | 'clock' | 'events'>;
  readonly #changed: () => void;

  /** `changed`: array records show prices. */
  constructor(tools: Pick<Tools, 'store' | 'clock' | 'events'>, changed: () => void = () => undefined) {
    this.#tools = tools;
    this.#changed = changed;
  }

  /** What engines cost at each provider the actor may see. */
  enginePrices(actor: PortalActor): EnginePrices[] {
    const now = this.#tools.clock.now();
    return this.#tools.store.read((db) =>
      listPricedProviders(db, { visibleOnly: !isAdmin(actor) }).map((provider) => {
        const inCloud = new Set(provider.inventory.engine_types.map(({ key }) => key));
        const engines = listPricesAt(db, provider.id, now)
          .filter(({ kind }) => kind === 'engine')
          .map(({ key, price }) => ({ key, price, available: inCloud.has(key) }));
        return { provider, engines };
      }),
    );
  }

  async setFlavorPrice({ providerId, flavor, price }: NewFlavorPrice, actor: PortalActor): Promise<void> {
    const { store, clock, events } = this.#tools;
    await store.write((tx) => {
      const provider = existingProvider(tx, providerId);
      const key = findEngineKey(provider.inventory, flavor);
      if (key === undefined) throw fail('not_found', { kind: 'engine', id: flavor });
      if (!setPrice(tx, providerId, { kind: 'engine', key, price }, clock.now())) return;
      const title = `Engine ${key} of provider ${provider.name} costs ${price} USD an hour from now on.`;
      events.record(tx, { title, subject: `provider:${providerId}`, actor: actor.username });
    });
  }

  /** Every price of a provider that the actor may see. */
  list(providerId: ProviderId, actor: PortalActor): DatedPrice[] {
    const { store, clock } = this.#tools;
    const now = clock.now();
    return store.read((db) => {
      const visible = listPricedProviders(db, { visibleOnly: !isAdmin(actor) });
      if (!visible.some(({ id }) => id === providerId)) throw fail('not_found', { kind: 'provider', id: providerId });
      const present = new Map(listPricesAt(db, providerId, now).map((one) => [itemName(one), one]));
      return listAllPrices(db, providerId).map((one) => ({
        ...one,
        state: one.effectiveFrom > now ? 'planned' : isSameTime(present.get(itemName(one)), one) ? 'present' : 'past',
      }));
    });
  }

  /** Of any item, from a minute that is not past; `from` undefined: from now on. */
  async setPrice(item: ItemPrice & { readonly providerId: ProviderId }, from: string | undefined, actor: PortalActor) {
    const { store, clock, events } = this.#tools;
    const now = clock.now();
    const start = from === undefined ? now : momentOf('from', from);
    if (start < now) throw badParameter('from', 'must not be past: what was used keeps its price');
    await store.write((tx) => {
      const provider = existingProvider(tx, item.providerId);
      checkItem(provider, item);
      if (!setPrice(tx, item.providerId, item, start)) return;
      const when = from === undefined ? 'now on' : `${from} UTC on`;
      const title = `${itemName(item)} of provider ${provider.name} costs ${item.price} USD an hour from ${when}.`;
      events.record(tx, { title, subject: `provider:${item.providerId}`, actor: actor.username });
      tx.afterCommit(this.#changed);
    });
  }

  /** The present price stays. */
  async cancelPlanned(providerId: ProviderId, item: PricedItem, actor: PortalActor): Promise<void> {
    const { store, clock, events } = this.#tools;
    await store.write((tx) => {
      const provider = existingProvider(tx, providerId);
      checkItem(provider, item);
      const count = deletePricesFrom(tx, providerId, item, clock.now() + 1);
      if (count === 0) throw fail('not_found', { kind: 'planned price', id: itemName(item) });
      const title = `Planned prices of ${itemName(item)} of provider ${provider.name} were dropped.`;
      events.record(tx, { title, subject: `provider:${providerId}`, actor: actor.username });
      tx.afterCommit(this.#changed);
    });
  }

  /** All prices of the file for all of the providers, or, if anything is wrong with it, none for any. */
  async upload(providerIds: readonly number[], file: Uint8Array, actor: PortalActor): Promise<void> {
    const rows = readPriceFile(file);
    await this.#tools.store.write((tx) => {
      const providers = [...new Set(providerIds)].map((id) => existingProvider(tx, id));
      for (const provider of providers) checkItems(provider, rows);
      for (const provider of providers) this.#apply(tx, provider, rows, actor);
    });
  }

  #apply(tx: Tx, provider: PricedProvider, rows: readonly FilePrice[], actor: PortalActor): void {
    const { clock, events } = this.#tools;
    const now = clock.now();
    const changed = rows.filter((row) => setPrice(tx, provider.id, row, now)).length;
    if (changed === 0) return;
    const title = `A price file changed ${changed} prices of provider ${provider.name}.`;
    events.record(tx, { title, subject: `provider:${provider.id}`, actor: actor.username });
    tx.afterCommit(this.#changed);
  }
}

function isSameTime(one: ItemPrice | undefined, other: StoredPrice): boolean {
  return one !== undefined && (one as StoredPrice).effectiveFrom === other.effectiveFrom;
}

function checkItem({ name, inventory }: PricedProvider, item: PricedItem): void {
  const wanted = itemName(item);
  if (listPrices(inventory).some((sold) => itemName(sold) === wanted)) return;
  throw badParameter('key', `must name a ${item.kind} that the cloud of provider ${name} has`);
}

function existingProvider(db: Db, id: number): PricedProvider {
  const provider = findPricedProvider(db, id);
  if (!provider) throw fail('not_found', { kind: 'provider', id });
  return provider;
}

function checkItems({ name, inventory }: PricedProvider, rows: readonly FilePrice[]): void {
  const sold = new Set(listPrices(inventory).map(itemName));
  for (const { row, kind, key } of rows) {
    if (!sold.has(itemName({ kind, key }))) {
      throw rowProblem(row, `the cloud of provider ${name} has no ${kind} with the key ${quoted(key)}`);
    }
  }
}

import type { Inventory } from '@granary/contract/cloud';
import { fail, type Db, type Page, type Tx } from '@granary/kernel';
import type { ProviderId } from '../ids.ts';
import { isAdmin, type PortalActor } from '../actor.ts';
import type { CloudService } from '../clouds/service.ts';
import type { Tools } from '../tools.ts';
import type { Provider } from './provider.ts';
import * as repository from './repository.ts';
import { providerView, type ProviderView } from './view.ts';

export interface NewProvider {
  readonly name: string;
  readonly key: string;
  readonly cloud_id: number;
  readonly enabled?: boolean | undefined;
}

/** What keeps a provider from being deleted. */
export interface ProviderUse {
  readonly arrays: number;
  /** Arrays that only bills name. */
  readonly billed: number;
  readonly networks: number;
  readonly vlans: number;
}

/** What other resources have to do with providers; all but `changed` in the transaction of the change. */
export interface ProviderRelations {
  created(tx: Tx, providerId: ProviderId, inventory: Inventory): void;
  use(db: Db, providerId: ProviderId): ProviderUse;
  /** After the commit: array records show the provider. */
  changed(): void;
}

/** Who sells the storage of a cloud, at which prices. */
export class ProviderService {
  readonly #tools: Tools;
  readonly #clouds: CloudService;
  readonly #relations: ProviderRelations;

  constructor(tools: Tools, clouds: CloudService, relations: ProviderRelations) {
    this.#tools = tools;
    this.#clouds = clouds;
    this.#relations = relations;
  }

  list(actor: PortalActor, page: Page): { providers: ProviderView[]; total: number } {
    return this.#tools.store.read((db) => ({
      providers: repository.listProviders(db, isAdmin(actor), page).map(providerView),
      total: repository.countProviders(db, isAdmin(actor)),
    }));
  }

  isEmpty(): boolean {
    return this.#tools.store.read((db) => repository.countProviders(db, true)) === 0;
  }

  get(actor: PortalActor, id: ProviderId): ProviderView {
    const provider = this.#tools.store.read((db) => repository.findProvider(db, id, isAdmin(actor)));
    if (!provider) throw fail('not_found', { kind: 'provider', id });
    return providerView(provider);
  }

  create(provider: NewProvider, actor = 'system'): Promise<number> {
    const { store, clock, events } = this.#tools;
    return store.write((tx) => {
      const { name, key, cloud_id: cloudId, enabled = true } = provider;
      const { inventory } = this.#clouds.existing(tx, cloudId);
      const clash = repository.findClash(tx, name, key, 0);
      if (clash) throw fail('name_taken', { name: clash.key === key ? key : name });
      const now = clock.now();
      const id = repository.insertProvider(tx, { name, key, cloudId, enabled, createdAt: now });
      this.#relations.created(tx, id, inventory);
      events.record(tx, { title: `Provider ${name} was added.`, subject: `provider:${id}`, actor });
      return id;
    });
  }

  update(id: ProviderId, name: string, enabled: boolean | undefined, actor: PortalActor): Promise<number> {
    const { store, events } = this.#tools;
    return store.write((tx) => {
      const known = this.#existing(tx, id);
      if (repository.findClash(tx, name, known.key, id)) throw fail('name_taken', { name });
      repository.updateProvider(tx, id, { name, enabled: enabled ?? known.enabled });
      events.record(tx, { title: `Provider ${name} was changed.`, subject: `provider:${id}`, actor: actor.username });
      tx.afterCommit(() => this.#relations.changed());
      return id;
    });
  }

  async delete(id: ProviderId, actor: PortalActor): Promise<void> {
    const { store, events } = this.#tools;
    await store.write((tx) => {
      const { name } = this.#existing(tx, id);
      const by = usedBy(this.#relations.use(tx, id));
      if (by !== undefined) throw fail('in_use', { kind: 'Provider', id: name, by });
      repository.deleteProvider(tx, id);
      events.record(tx, { title: `Provider ${name} was removed.`, subject: `provider:${id}`, actor: actor.username });
    });
  }

  #existing(db: Db, id: ProviderId): Provider {
    const known = repository.findProvider(db, id);
    if (!known) throw fail('not_found', { kind: 'provider', id });
    return known;
  }
}

function usedBy({ arrays, billed, networks, vlans }: ProviderUse): string | undefined {
  if (arrays > 0) return `it has ${arrays} arrays; delete them first`;
  if (networks > 0) return `it has ${networks} virtual networks; delete them first`;
  if (vlans > 0) return `it has ${vlans} VLANs; deallocate them first`;
  // Bills for the past name the provider, so it stays; closing it hides it from users.
  return billed > 0 ? `${billed} deleted arrays are on its bills; set enabled=false instead` : undefined;
}

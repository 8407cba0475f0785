import type { Inventory } from '@granary/contract/cloud';
import { fail, type Db, type Page, type Tx } from '@granary/kernel';
import type { ProviderGroupId, ProviderId } from '../ids.ts';
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
  readonly hidden?: boolean | undefined;
  /** Text, as records show it: the group's id; empty or `null` for none. */
  readonly provider_group_id?: string | undefined;
}

export type ProviderChange = Omit<NewProvider, 'key' | 'cloud_id'>;

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
  /** Nothing but bills names it from now on. */
  removed(tx: Tx, providerId: ProviderId): void;
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
      const { name, key, cloud_id: cloudId, enabled = true, hidden = false } = provider;
      const groupId = groupOf(tx, provider.provider_group_id) ?? null;
      const { inventory } = this.#clouds.existing(tx, cloudId);
      const clash = repository.findClash(tx, name, key, 0);
      if (clash) throw fail('name_taken', { name: clash.key === key ? key : name });
      const now = clock.now();
      const id = repository.insertProvider(tx, { name, key, groupId, cloudId, enabled, hidden, createdAt: now });
      this.#relations.created(tx, id, inventory);
      events.record(tx, { title: `Provider ${name} was added.`, subject: `provider:${id}`, actor });
      return id;
    });
  }

  update(id: ProviderId, change: ProviderChange, actor: PortalActor): Promise<number> {
    const { store, events } = this.#tools;
    return store.write((tx) => {
      const known = this.#existing(tx, id);
      const { name, enabled, hidden, provider_group_id: group } = change;
      if (repository.findClash(tx, name, known.key, id)) throw fail('name_taken', { name });
      repository.updateProvider(tx, id, { name, enabled, hidden, groupId: groupOf(tx, group) });
      events.record(tx, { title: `Provider ${name} was changed.`, subject: `provider:${id}`, actor: actor.username });
      tx.afterCommit(() => this.#relations.changed());
      return id;
    });
  }

  async delete(id: ProviderId, actor: PortalActor): Promise<void> {
    const { store, clock, events } = this.#tools;
    await store.write((tx) => {
      const { name } = this.#existing(tx, id);
      const use = this.#relations.use(tx, id);
      const by = usedBy(use);
      if (by !== undefined) throw fail('in_use', { kind: 'Provider', id: name, by });
      this.#relations.removed(tx, id);
      if (use.billed > 0) repository.removeProvider(tx, id, clock.now());
      else repository.deleteProvider(tx, id);
      tx.afterCommit(() => this.#relations.changed());
      events.record(tx, { title: `Provider ${name} was removed.`, subject: `provider:${id}`, actor: actor.username });
    });
  }

  #existing(db: Db, id: ProviderId): Provider {
    const known = repository.findProvider(db, id);
    if (!known) throw fail('not_found', { kind: 'provider', id });
    return known;
  }
}

/** The group that a parameter names; null for none, undefined where it is absent. */
function groupOf(db: Db, named: string | undefined): ProviderGroupId | null | undefined {
  if (named === undefined) return undefined;
  if (named === '' || named === 'null') return null;
  const id = Number(named);
  if (!repository.findGroup(db, id)) throw fail('not_found', { kind: 'provider group', id });
  return id;
}

function usedBy({ arrays, networks, vlans }: ProviderUse): string | undefined {
  if (arrays > 0) return `it has ${arrays} arrays; delete them first, and purge those that can be undeleted`;
  if (networks > 0) return `it has ${networks} virtual networks; delete them first`;
  return vlans > 0 ? `it has ${vlans} VLANs; deallocate them first` : undefined;
}

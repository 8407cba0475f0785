import type { FoundRecord } from '@granary/contract';
import { bestNamed, WHOLE, type Db, type Named, type Store } from '@granary/kernel';
import { listAllAccounts } from '../accounts/repository.ts';
import { isAdmin, scopeOf, type PortalActor } from '../actor.ts';
import { namesOfArrays, searchArrays } from '../arrays/repository.ts';
import { listClouds } from '../clouds/repository.ts';
import { listNetworks } from '../networks/repository.ts';
import { listProviders } from '../providers/repository.ts';
import { searchRequests } from '../requests/repository.ts';
import { listUsers } from '../users/repository.ts';

interface Searched {
  readonly webhooks: { list: (page: typeof WHOLE) => { webhooks: { webhook: { id: number; name: string } }[] } };
}

const PRODUCTS = { storage_array: 'Storage array', object_storage: 'Object storage' } as const;

/** Finds by name what the caller may list. */
export class SearchService {
  readonly #store: Store;
  readonly #searched: Searched;

  constructor({ store }: { readonly store: Store }, searched: Searched) {
    this.#store = store;
    this.#searched = searched;
  }

  find(actor: PortalActor, text: string, limit: number): FoundRecord[] {
    return this.#store.read((db) => {
      const found = [...owned(db, actor, text, limit), ...offered(db, actor)];
      return bestNamed(isAdmin(actor) ? [...found, ...this.#ofOperator(db)] : found, text, limit);
    });
  }

  *#ofOperator(db: Db): Generator<Named> {
    for (const { id, username, email, role } of listUsers(db, WHOLE)) {
      const detail = role === 'admin' ? 'Administrator' : 'User';
      yield { kind: 'users', id: String(id), name: username, detail, also: [email] };
    }
    for (const { webhook } of this.#searched.webhooks.list(WHOLE).webhooks)
      yield { kind: 'webhooks', id: String(webhook.id), name: webhook.name, detail: 'Webhook' };
  }
}

/** What belongs to the caller, or to anyone for an administrator. */
function* owned(db: Db, actor: PortalActor, text: string, limit: number): Generator<Named> {
  const scope = scopeOf(actor);
  for (const array of searchArrays(db, scope, text, limit)) {
    const { id, name, product, status, internalName, managementUrl, ipAddress, ipv6Address, publicIp, uuid } = array;
    const also = [internalName, ipAddress, ipv6Address, publicIp, managementUrl, uuid];
    yield { kind: 'arrays', id: String(id), name, detail: `${PRODUCTS[product]} · ${status}`, also };
  }
  const accounts = listAllAccounts(db, scope, WHOLE);
  const names = namesOfArrays(db, [...new Set(accounts.map(({ arrayId }) => arrayId))]);
  for (const { id, name, arrayId } of accounts)
    yield { kind: 'accounts', id: String(id), name, detail: `Account of ${names.get(arrayId) ?? 'an array'}` };
  for (const { id, name, cidr, ipv6Cidr } of listNetworks(db, scope, WHOLE))
    yield { kind: 'networks', id: String(id), name, detail: 'Virtual network', also: [cidr, ipv6Cidr] };
  for (const { id, name, kind } of searchRequests(db, scope, text, limit))
    yield { kind: 'requests', id: String(id), name, detail: `Request that waits: ${kind.replaceAll('_', ' ')}` };
}

function* offered(db: Db, actor: PortalActor): Generator<Named> {
  for (const { id, name, address } of listClouds(db, !isAdmin(actor), WHOLE))
    yield { kind: 'clouds', id: String(id), name, detail: 'Cloud', also: isAdmin(actor) ? [address] : [] };
  for (const { id, name, key } of listProviders(db, isAdmin(actor), WHOLE))
    yield { kind: 'providers', id: String(id), name, detail: 'Provider', also: [key] };
}

import type { FoundRecord } from '@granary/contract';
import { bestNamed, type Db, type Named } from '@granary/kernel';
import { searchAccounts } from '../accounts/repository.ts';
import { scopeOf, type ObjectsActor } from '../actor.ts';
import { destinationName } from '../destinations/names.ts';
import { listDestinations } from '../destinations/repository.ts';
import type { ObjectDriveService } from '../drives/service.ts';
import type { PolicyService } from '../policies/service.ts';
import type { ObjectsTools } from '../tools.ts';
import { searchUsers } from '../users/repository.ts';
import type { VirtualControllerService } from '../virtual-controllers/service.ts';

interface Parts {
  readonly policies: PolicyService;
  readonly drives: ObjectDriveService;
  readonly controllers: VirtualControllerService;
}

/** Of the caller's account; in more only those that begin with the text are found. */
const BUCKETS_SEEN_MAX = 10_000;

/** Finds by name what the caller may list: an account's administrator what is in the account, a member nothing. */
export class SearchService {
  readonly #tools: ObjectsTools;
  readonly #parts: Parts;

  constructor(tools: ObjectsTools, parts: Parts) {
    this.#tools = tools;
    this.#parts = parts;
  }

  find(actor: ObjectsActor, text: string, limit: number): FoundRecord[] {
    if (actor.role === 'member') return [];
    return this.#tools.store.read((db) => {
      const found = [...people(db, actor, text, limit), ...this.#buckets(actor, text, limit)];
      return bestNamed(actor.role === 'objs_admin' ? [...found, ...this.#ofArray(db)] : found, text, limit);
    });
  }

  *#buckets({ accountId }: ObjectsActor, text: string, limit: number): Generator<Named> {
    const { catalogue } = this.#tools.engine;
    if (accountId === null) return;
    const beginning = catalogue.buckets(accountId, { prefix: text.trim(), limit });
    const all = catalogue.buckets(accountId, { limit: BUCKETS_SEEN_MAX });
    for (const name of new Set([...beginning, ...all].map((bucket) => bucket.name)))
      yield { kind: 'buckets', id: name, name, detail: 'Bucket' };
  }

  *#ofArray(db: Db): Generator<Named> {
    const { policies, drives, controllers } = this.#parts;
    for (const { name, displayName } of policies.list())
      yield { kind: 'policies', id: name, name: displayName, detail: 'Storage policy', also: [name] };
    for (const { name, drive } of drives.list()) {
      const detail = `Drive · ${drive.capacityGb} GB ${drive.medium.toUpperCase()}`;
      yield { kind: 'drives', id: name, name, detail, also: [drive.uuid] };
    }
    for (const { name } of controllers.list())
      yield { kind: 'controllers', id: name, name, detail: 'Virtual controller' };
    for (const { id, displayName, url } of listDestinations(db))
      yield {
        kind: 'remote-endpoints',
        id: destinationName(id),
        name: displayName,
        detail: 'Remote endpoint',
        also: [url],
      };
  }
}

function* people(db: Db, actor: ObjectsActor, text: string, limit: number): Generator<Named> {
  const scope = scopeOf(actor);
  for (const { id, name } of searchAccounts(db, scope, text, limit))
    yield { kind: 'accounts', id, name, detail: 'Account', also: [id] };
  for (const { id, username, email, accountName } of searchUsers(db, scope, text, limit))
    yield { kind: 'users', id, name: username, detail: `User of ${accountName}`, also: [email] };
}

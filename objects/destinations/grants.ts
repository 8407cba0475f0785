import { fail, type Tx } from '@granary/kernel';
import type { ObjectsTools } from '../tools.ts';
import { findAccount } from '../accounts/repository.ts';
import {
  countGrants,
  findGrant,
  findOwnerOfKey,
  findPrefix,
  findUnprefixed,
  listAllGrants,
  listGrants,
  listGrantsOf,
  putGrant,
  revokeGrant,
} from './grant-repository.ts';
import { destinationId, destinationName } from './names.ts';
import type { Destination } from './destination.ts';
import { findDestination, listDestinations, markGranted } from './repository.ts';

type Tools = Pick<ObjectsTools, 'store' | 'clock' | 'events' | 'engine'>;

/** A remote endpoint as one account may use it. */
export interface Granted {
  readonly destination: Destination;
  readonly prefix: string;
}

export interface GrantRequest {
  readonly account: string;
  /** False: its objects keep their names there. Left out: as it was before, else true. */
  readonly ownPrefix?: boolean | undefined;
}

export interface GrantView {
  readonly account_id: string;
  readonly account_name: string;
  readonly prefix: string;
}

interface GrantedView {
  readonly ext_name: string;
  readonly display_name: string;
  readonly type: Destination['type'];
  readonly prefix: string;
}

const GRANTS_MAX = 1_000;
const ACCOUNT_ID = /^[0-9a-f]{32}$/;

/**
 * Which accounts may replicate to which remote endpoint. Without a grant an endpoint does not exist for an account. The
 * objects of each account go below a prefix of its own, so that accounts which share an endpoint, and even a bucket there,
 * cannot reach each other's. Accounts that used an endpoint before there were grants keep their objects where they are:
 * their prefix is empty. One account of an endpoint can be granted that, too: for an endpoint of its own, or to replicate both ways.
 */
export class DestinationGrants {
  readonly #tools: Tools;

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  list(name: string): GrantView[] {
    return this.#tools.store.read((db) => {
      const grants = listGrants(db, existing(db, name).id);
      return grants.map(({ account, prefix }) => ({
        account_id: account,
        account_name: findAccount(db, account)?.name ?? '',
        prefix,
      }));
    });
  }

  /** What an account may replicate to; nothing of how it is reached. */
  listOf(account: string): GrantedView[] {
    return this.#tools.store.read((db) => {
      const prefixes = new Map(listGrantsOf(db, account).map(({ destination, prefix }) => [destination, prefix]));
      return listDestinations(db).flatMap(({ id, displayName, type }) => {
        const prefix = prefixes.get(id);
        return prefix === undefined ? [] : [{ ext_name: destinationName(id), display_name: displayName, type, prefix }];
      });
    });
  }

  /** One that was revoked comes back with the prefix it had, unless another is asked for. */
  async grant(name: string, { account, ownPrefix }: GrantRequest, actor: string): Promise<void> {
    const { store, clock, engine } = this.#tools;
    await store.write((tx) => {
      const { id, displayName: shown } = existing(tx, name);
      const known = findAccount(tx, account);
      if (!known) throw fail('account_not_found', { id: account });
      if (findGrant(tx, id, account)) return;
      const before = ownPrefix === undefined ? findPrefix(tx, id, account) : undefined;
      const prefix = before ?? (ownPrefix === false ? '' : `${account}/`);
      if (before === undefined && prefix === '') refuseSecondUnprefixed(tx, id, account, shown);
      if (countGrants(tx, id) >= GRANTS_MAX) {
        throw fail('grants_limit', { endpoint: shown, max: GRANTS_MAX });
      }
      putGrant(tx, { destination: id, account, prefix, createdAt: clock.now() });
      this.#record(tx, id, `Remote endpoint ${shown} (${name}) was granted to account ${known.name}.`, actor);
    });
    await engine.applySettings();
  }

  /** Nothing more of the account is sent there; what is there stays. */
  async revoke(name: string, account: string, actor: string): Promise<void> {
    const { store, engine } = this.#tools;
    await store.write((tx) => {
      const { id, displayName: shown } = existing(tx, name);
      if (!findGrant(tx, id, account)) throw fail('nothing_to_delete');
      revokeGrant(tx, id, account);
      const who = findAccount(tx, account)?.name ?? account;
      this.#record(tx, id, `Remote endpoint ${shown} (${name}) was taken from account ${who}.`, actor);
    });
    await engine.applySettings();
  }

  /** Accounts by the name of the endpoint that their buckets may name. */
  byName(): Record<string, string[]> {
    return this.#tools.store.read((db) => {
      const names: Record<string, string[]> = {};
      for (const { destination, account } of listAllGrants(db))
        (names[destinationName(destination)] ??= []).push(account);
      return names;
    });
  }

  /** Undefined when the endpoint is not there for the account. */
  find(name: string, account: string): Granted | undefined {
    const id = destinationId(name);
    if (id === undefined) return undefined;
    return this.#tools.store.read((db) => {
      const destination = findDestination(db, id);
      if (!destination) return undefined;
      // Whose buckets name it already is about to be granted.
      if (!destination.hasGrants) return { destination, prefix: '' };
      const grant = findGrant(db, id, account);
      return grant && { destination, prefix: grant.prefix };
    });
  }

  /** Why an object may not go there; undefined when it may. */
  refusalOf({ destination, prefix }: Granted, account: string, key: string): string | undefined {
    // Some services resolve these as file systems do, out of a prefix or into that of another account.
    const segments = key.split('/');
    if (segments.some((segment) => segment === '.' || segment === '..')) return `${key} has a segment of dots`;
    if (prefix !== '') return undefined;
    // Accounts may be granted the endpoint later: below the id of one there is nothing for any other.
    const first = segments.find((segment) => segment !== '')?.toLowerCase() ?? '';
    const isOthers = this.#tools.store.read(
      (db) =>
        findOwnerOfKey(db, destination.id, key) !== undefined ||
        (ACCOUNT_ID.test(first) && first !== account && findAccount(db, first) !== undefined),
    );
    return isOthers ? `${key} begins like the objects of another account there` : undefined;
  }

  /** At a start: endpoints that were known before there were grants are granted to the accounts that use them. */
  async reconcile(): Promise<void> {
    const { store, clock, engine } = this.#tools;
    const ungranted = store.read(listDestinations).filter(({ hasGrants }) => !hasGrants);
    if (ungranted.length === 0) return;
    const used = engine.catalogue.replicatedBuckets();
    await store.write((tx) => {
      for (const { id, displayName: shown } of ungranted) {
        const name = destinationName(id);
        const accounts = new Set(used.filter((use) => use.destination === name).map(({ account }) => account));
        for (const account of accounts) {
          putGrant(tx, { destination: id, account, prefix: '', createdAt: clock.now() });
          const who = findAccount(tx, account)?.name ?? account;
          const title = `Remote endpoint ${shown} (${name}) was granted to account ${who}, which used it before; revoke it if that is not wanted.`;
          this.#record(tx, id, title);
        }
        markGranted(tx, id);
      }
    });
    await engine.applySettings();
  }

  #record(tx: Tx, id: number, title: string, actor?: string): void {
    const subject = `destination:${destinationName(id)}`;
    this.#tools.events.record(tx, { severity: 'notice', title, subject, ...(actor !== undefined && { actor }) });
  }
}

/** Two accounts without a prefix could overwrite each other's objects. */
function refuseSecondUnprefixed(tx: Tx, id: number, account: string, shown: string): void {
  const other = findUnprefixed(tx, id);
  if (other === undefined || other === account) return;
  throw fail('unprefixed_grant_taken', { account: other, endpoint: shown });
}

function existing(db: Parameters<typeof findDestination>[0], name: string): Destination {
  const id = destinationId(name);
  const known = id === undefined ? undefined : findDestination(db, id);
  if (!known) throw fail('objs_destination_not_found', { id: name });
  return known;
}

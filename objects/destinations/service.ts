import { badParameter, fail, type Tx } from '@granary/kernel';
import type { RemotePlace } from '@granary/protocols/s3/client';
import type { ObjectsTools } from '../tools.ts';
import { endpointUrls } from './endpoint.ts';
import { remoteAddress, type NameServers } from './lookup.ts';
import { destinationId, destinationName } from './names.ts';
import type { Destination, DestinationType } from './destination.ts';
import {
  countDestinations,
  deleteDestination,
  findDestination,
  findDestinationNamed,
  insertDestination,
  listDestinations,
  setProblem,
  updateDestination,
} from './repository.ts';

export interface NewDestinationRequest {
  readonly name: string;
  readonly type: DestinationType;
  readonly endpoint?: string | undefined;
  readonly endpoint_url?: string | undefined;
  readonly region: string;
  readonly username: string;
  readonly password: string;
  readonly connectVia: 'fe' | 'outnet';
}

export interface DestinationChanges {
  readonly name?: string | undefined;
  readonly type: DestinationType;
  readonly region?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly connectVia?: 'fe' | 'outnet' | undefined;
}

/** A remote endpoint with what is known of it elsewhere. */
export interface KnownDestination {
  readonly destination: Destination;
  /** In clear: the specification shows it to administrators. */
  readonly secret: string;
  /** Buckets that are replicated to it. */
  readonly buckets: number;
}

type Tools = Pick<ObjectsTools, 'store' | 'vault' | 'clock' | 'events' | 'engine' | 'configuration'> & {
  readonly nameServers: () => NameServers;
};

const DESTINATIONS_MAX = 100;

/** S3 services elsewhere. Each answered to the key given when it was made known or changed. */
export class DestinationService {
  readonly #tools: Tools;

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  /** All of them, or those that the buckets of an account are replicated to. */
  list(account?: string): KnownDestination[] {
    const used = this.#tools.engine.catalogue.replicatedBuckets();
    const known = this.#tools.store.read(listDestinations).map((one) => this.#known(one, used));
    if (account === undefined) return known;
    const names = new Set(used.filter((use) => use.account === account).map(({ destination }) => destination));
    return known.filter(({ destination: row }) => names.has(destinationName(row.id)));
  }

  get(name: string): KnownDestination {
    return this.#known(this.#row(name), this.#tools.engine.catalogue.replicatedBuckets());
  }

  find(name: string): Destination | undefined {
    const id = destinationId(name);
    return id === undefined ? undefined : this.#tools.store.read((db) => findDestination(db, id));
  }

  async create(request: NewDestinationRequest, actor: string): Promise<void> {
    const { store, vault, clock, engine } = this.#tools;
    const endpoint = endpointOf(request);
    const { name, type, region, username, password, connectVia } = request;
    store.read((db) => checkNew(db, name));
    const identity = { region, accessKey: username, secret: password };
    const url = await this.#test(endpoint, { ...identity, localAddress: this.#localAddress(connectVia) });
    await store.write((tx) => {
      checkNew(tx, name);
      const now = clock.now();
      const id = insertDestination(tx, {
        displayName: name,
        type,
        endpoint: endpoint.text,
        url,
        region,
        accessKey: username,
        secretSealed: vault.seal(password),
        connectVia,
        createdAt: now,
        modifiedAt: now,
      });
      this.#record(tx, id, `Remote endpoint ${name} (${destinationName(id)}) was made known.`, actor);
    });
    await engine.applySettings();
  }

  async update(destination: string, changes: DestinationChanges, actor: string): Promise<void> {
    const { store, vault, clock } = this.#tools;
    const before = this.#row(destination);
    const secret = changes.password ?? vault.unseal(before.secretSealed);
    const next: Destination = {
      ...before,
      displayName: changes.name ?? before.displayName,
      type: changes.type,
      region: changes.region ?? before.region,
      accessKey: changes.username ?? before.accessKey,
      secretSealed: vault.seal(secret),
      connectVia: changes.connectVia ?? before.connectVia,
    };
    store.read((db) => checkName(db, next.displayName, before.id));
    const place = { field: 'endpoint', text: before.endpoint };
    const localAddress = this.#localAddress(next.connectVia);
    const identity = { region: next.region, accessKey: next.accessKey, secret };
    const url = await this.#test(place, { ...identity, localAddress });
    await store.write((tx) => {
      if (!findDestination(tx, before.id)) throw fail('objs_destination_not_found', { id: destination });
      checkName(tx, next.displayName, before.id);
      updateDestination(tx, { ...next, url, problem: null, modifiedAt: clock.now() });
      this.#record(tx, before.id, `Remote endpoint ${next.displayName} (${destination}) was changed.`, actor);
    });
  }

  async delete(name: string, force: boolean, actor: string): Promise<void> {
    const { store, engine } = this.#tools;
    const { destination, buckets } = this.get(name);
    if (buckets > 0 && !force) {
      throw fail('endpoint_replicated_to', { count: buckets, endpoint: destination.displayName });
    }
    await store.write((tx) => {
      deleteDestination(tx, destination.id);
      this.#record(tx, destination.id, `Remote endpoint ${destination.displayName} (${name}) was removed.`, actor);
    });
    await engine.applySettings();
  }

  /** Records whether the endpoint accepts what is sent; an event is recorded each time that changes. */
  async recordProblem(destination: string, problem: string | null): Promise<void> {
    const isNews = (row: Destination | undefined) => row && (row.problem === null) !== (problem === null);
    const id = destinationId(destination);
    if (id === undefined || !isNews(this.find(destination))) return;
    await this.#tools.store.write((tx) => {
      // Requests that fail together are reported once.
      const known = findDestination(tx, id);
      if (!known || !isNews(known)) return;
      setProblem(tx, id, problem);
      const subject = `destination:${destination}`;
      const title =
        problem === null
          ? `Remote endpoint ${known.displayName} takes what is replicated again.`
          : `Remote endpoint ${known.displayName} does not take what is replicated: ${problem}. It is tried again.`;
      this.#tools.events.record(tx, { severity: problem === null ? 'notice' : 'error', title, subject });
    });
  }

  /** Where it is now and who goes there; looked up each time, because the address of a name may change. */
  async place({ url, region, accessKey, secretSealed: secret, connectVia: via }: Destination): Promise<RemotePlace> {
    const { vault } = this.#tools;
    const address = await this.#address(new URL(url).hostname);
    const identity = { region, accessKey, secret: vault.unseal(secret) };
    return { ...identity, url, address, localAddress: this.#localAddress(via), trusted: this.#trusted };
  }

  /** `fe`: from the address that clients reach the array at. `outnet`: from its public address, or as the machine routes. */
  #localAddress(via: Destination['connectVia']): string | undefined {
    const { management, publicAddress } = this.#tools.configuration();
    return via === 'fe' ? management.host : (publicAddress ?? undefined);
  }

  async #test(endpoint: Endpoint, identity: Omit<RemotePlace, 'url' | 'address' | 'trusted'>): Promise<string> {
    // Loaded when it is needed: most arrays know no remote endpoint.
    const { testConnection } = await import('./connection.ts');
    return testConnection({
      endpoint: endpoint.text,
      urls: endpointUrls(endpoint.field, endpoint.text),
      identity: { ...identity, trusted: this.#trusted },
      address: (host) => this.#address(host),
    });
  }

  #address(host: string): Promise<string> {
    return remoteAddress(host, this.#tools.nameServers());
  }

  /** Arrays of the same cloud have certificates of the same making. */
  get #trusted(): string | undefined {
    return this.#tools.configuration().tls?.cert;
  }

  #row(name: string): Destination {
    const row = this.find(name);
    if (!row) throw fail('objs_destination_not_found', { id: name });
    return row;
  }

  #known(destination: Destination, used: readonly { destination: string; buckets: number }[]): KnownDestination {
    const name = destinationName(destination.id);
    const buckets = used.reduce((sum, use) => sum + (use.destination === name ? use.buckets : 0), 0);
    return { destination, buckets, secret: this.#tools.vault.unseal(destination.secretSealed) };
  }

  #record(tx: Tx, id: number, title: string, actor: string): void {
    const subject = `destination:${destinationName(id)}`;
    this.#tools.events.record(tx, { severity: 'notice', title, subject, actor });
  }
}

interface Endpoint {
  readonly field: string;
  readonly text: string;
}

function endpointOf({ type, endpoint, endpoint_url: url }: NewDestinationRequest): Endpoint {
  const [field, text] = type === 'EXT_S3' ? ['endpoint', endpoint] : ['endpoint_url', url];
  if (text === undefined) throw badParameter(field, `is required for ${type}`);
  endpointUrls(field, text);
  return { field, text };
}

type Reading = Parameters<typeof countDestinations>[0];

function checkNew(db: Reading, name: string): void {
  checkName(db, name, null);
  if (countDestinations(db) < DESTINATIONS_MAX) return;
  throw fail('endpoints_limit', { max: DESTINATIONS_MAX });
}

function checkName(db: Reading, name: string, own: number | null): void {
  const taken = findDestinationNamed(db, name);
  if (taken && taken.id !== own) throw fail('name_taken', { name });
}

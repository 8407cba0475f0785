import { peerApi } from '@granary/contract/array';
import { fail, type Db, type Tx } from '@granary/kernel';
import { nextName } from '../sequences/repository.ts';
import type { ArrayTools } from '../tools.ts';
import { findRoute, pair, proxyOf, type DiscoverRequest, type Own, type Paired } from './discovery.ts';
import { identityOf, type Identity } from './identity.ts';
import type { Proxy, Route } from '../outgoing/link.ts';
import { PairKeys } from './pair-keys.ts';
import { PeerLink } from './peer-link.ts';
import { currentSource, refuseMissing } from './source.ts';
import {
  countRemoteArrays,
  findRemoteArray,
  findRemoteArrayByUuid,
  findRemotePool,
  findRemotePoolByName,
  removeRemotePools,
  listRemoteArrays,
  listRemotePools,
  putRemoteArray,
  putRemotePool,
  removeRemoteArray,
  renameRemoteArray,
} from './repository.ts';
import type { RemoteArray, RemoteIdentity, RemotePool } from './remote-array.ts';

const REMOTE_ARRAYS_MAX = 100;
const REFRESH_EVERY_MS = 60_000;
const REFRESH_MS_MAX = 3_000;
const { peers } = peerApi.groups;

/** Mirrors to a remote array. They import remote arrays (`array/relations.ts` implements it). */
export interface MirrorsToArray {
  count(db: Db, remoteArray: string): number;
  /** The array is removed: messages that it has not received are dropped. */
  dropPending(tx: Tx, remoteArray: string): void;
}

interface Neighbours {
  readonly encryption: { readonly isActive: boolean };
  readonly mirrors: MirrorsToArray;
}

/** Other arrays this one may mirror to: found once, called ever after by what was agreed on then. */
export class RemoteArrayService {
  readonly #tools: ArrayTools;
  readonly #encryption: { readonly isActive: boolean };
  readonly #mirrors: MirrorsToArray;
  readonly #links = new Map<string, PeerLink>();
  #timer: NodeJS.Timeout | undefined;

  constructor(tools: ArrayTools, { encryption, mirrors }: Neighbours) {
    this.#tools = tools;
    this.#encryption = encryption;
    this.#mirrors = mirrors;
  }

  get self(): Identity {
    return identityOf(this.#tools.configuration(), this.#encryption);
  }

  list(start: number, limit: number): { remoteArrays: RemoteArray[]; count: number } {
    return this.#tools.store.read((db) => ({
      remoteArrays: listRemoteArrays(db, start, limit),
      count: countRemoteArrays(db),
    }));
  }

  get(name: string): RemoteArray {
    const remoteArray = this.#tools.store.read((db) => findRemoteArray(db, name));
    if (!remoteArray) throw fail('remote_array_not_found', { id: name });
    return remoteArray;
  }

  /** As it is now, where it answers; as it was, where it does not. */
  async show(name: string): Promise<RemoteArray> {
    await this.#refresh(this.get(name));
    return this.get(name);
  }

  async discover(request: DiscoverRequest, actor: string): Promise<string> {
    refuseMissing(this.#tools.configuration(), request.interface);
    const own = this.#own(request.interface);
    const route = await findRoute(request, own);
    const paired = await pair(route, request, this.self);
    if (paired.identity.uuid === this.self.uuid) throw fail('own_address');
    const name = await this.#tools.store.write((tx) => this.#record(tx, request, route, paired, actor));
    this.#closeLink(name);
    await this.#readPools(this.get(name)).catch((error: unknown) => {
      this.#tools.log.warn({ error, remoteArray: name }, 'the pools of a remote array could not be read');
    });
    return name;
  }

  async delete(name: string, actor: string): Promise<void> {
    const { store, events, log } = this.#tools;
    const remoteArray = this.get(name);
    this.#refuseMirrored(remoteArray);
    const link = this.linkTo(remoteArray);
    await store.write((tx) => {
      this.#refuseMirrored(remoteArray, tx);
      this.#mirrors.dropPending(tx, name);
      removeRemoteArray(tx, name);
      const title = `Remote array ${remoteArray.displayName} (${name}) was forgotten.`;
      events.record(tx, { title, subject: `remote_array:${name}`, actor });
    });
    // It may be offline for good: then it keeps a key that is not used any more.
    await link.call(peers.unpair, {}, { timeoutMs: REFRESH_MS_MAX }).catch((error: unknown) => {
      log.info({ error, remoteArray: name }, 'a remote array could not be notified of its removal');
    });
    this.#closeLink(name);
  }

  /** Asks it. Pools keep their names. */
  async pools(name: string): Promise<RemotePool[]> {
    await this.#readPools(this.get(name));
    return this.#tools.store.read((db) => listRemotePools(db, name));
  }

  /** A pool that was listed once, and the array it is on. */
  pool(name: string): { pool: RemotePool; array: RemoteArray } {
    const pool = this.#tools.store.read((db) => findRemotePool(db, name));
    if (!pool) throw fail('pool_not_found', { id: name });
    return { pool, array: this.get(pool.remoteArray) };
  }

  /** One a remote array: connections are kept. */
  linkTo(remoteArray: RemoteArray): PeerLink {
    const known = this.#links.get(remoteArray.name);
    if (known) return known;
    const { vault } = this.#tools;
    const keys = new PairKeys(Buffer.from(vault.unseal(remoteArray.sealedSecret), 'base64'));
    const link = new PeerLink(this.#routeOf(remoteArray), keys);
    this.#links.set(remoteArray.name, link);
    return link;
  }

  start(): void {
    this.#timer = setInterval(() => {
      for (const remoteArray of this.list(0, 0).remoteArrays) void this.#refresh(remoteArray);
    }, REFRESH_EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const name of [...this.#links.keys()]) this.#closeLink(name);
  }

  #own(name: RemoteArray['interface']): Own {
    const { configuration } = this.#tools;
    const { management, tls } = configuration();
    return { port: management.port, certificate: tls?.cert, source: () => currentSource(configuration(), name) };
  }

  #record(tx: Tx, request: DiscoverRequest, route: Route, { identity, secret }: Paired, actor: string): string {
    const { vault, clock, events } = this.#tools;
    const known = findRemoteArrayByUuid(tx, identity.uuid);
    if (!known && countRemoteArrays(tx) >= REMOTE_ARRAYS_MAX)
      throw fail('remote_arrays_limit', { max: REMOTE_ARRAYS_MAX });
    const proxy = proxyOf(request);
    const now = clock.now();
    const name = known?.name ?? nextName(tx, 'rarray');
    putRemoteArray(tx, {
      ...rowOf(identity),
      name,
      uuid: identity.uuid,
      host: route.host,
      port: route.port,
      isTls: route.isTls,
      interface: request.interface,
      proxy: proxy && vault.seal(JSON.stringify(proxy)),
      sealedSecret: vault.seal(secret.toString('base64')),
      createdAt: known?.createdAt ?? now,
      modifiedAt: now,
    });
    const title = `Remote array ${identity.display_name} (${name}) was found at ${request.ip}.`;
    events.record(tx, { title, subject: `remote_array:${name}`, actor });
    return name;
  }

  /** Who it is may change; whether it answers does not change what is on record. */
  async #refresh(remoteArray: RemoteArray): Promise<void> {
    const { store, clock } = this.#tools;
    const { is_encryption_active: _, ...self } = this.self;
    try {
      const { array } = await this.linkTo(remoteArray).call(peers.hello, self, { timeoutMs: REFRESH_MS_MAX });
      const fresh = rowOf(array);
      const isSame = Object.entries(fresh).every(([key, value]) => remoteArray[key as keyof RemoteIdentity] === value);
      if (array.uuid !== remoteArray.uuid || isSame) return;
      await store.write((tx) => {
        renameRemoteArray(tx, remoteArray.name, fresh, clock.now());
      });
    } catch (error) {
      this.#tools.log.debug({ error, remoteArray: remoteArray.name }, 'a remote array did not answer');
    }
  }

  async #readPools(remoteArray: RemoteArray): Promise<void> {
    const { pools } = await this.linkTo(remoteArray).call(peers.listPools, {});
    await this.#tools.store.write((tx) => {
      if (!findRemoteArray(tx, remoteArray.name)) return;
      removeRemotePools(tx, remoteArray.name);
      for (const pool of pools) {
        putRemotePool(tx, {
          name: findRemotePoolByName(tx, remoteArray.name, pool.name)?.name ?? nextName(tx, 'rpool'),
          remoteArray: remoteArray.name,
          remoteName: pool.name,
          displayName: pool.display_name,
          capacityGb: pool.capacity,
          availableGb: pool.available_capacity,
        });
      }
    });
  }

  #refuseMirrored({ name, displayName }: RemoteArray, tx?: Tx): void {
    const count = tx ? this.#mirrors.count(tx, name) : this.#tools.store.read((db) => this.#mirrors.count(db, name));
    if (count === 0) return;
    throw fail('remote_array_in_use', { remote: displayName, name, count });
  }

  #routeOf(remoteArray: RemoteArray): Route {
    const proxy =
      remoteArray.proxy === null ? null : (JSON.parse(this.#tools.vault.unseal(remoteArray.proxy)) as Proxy);
    const { certificate: trusted, source } = this.#own(remoteArray.interface);
    const { host, port, isTls } = remoteArray;
    return { host, port, isTls, proxy, trusted, source };
  }

  #closeLink(name: string): void {
    this.#links.get(name)?.close();
    this.#links.delete(name);
  }
}

function rowOf(identity: Identity): RemoteIdentity {
  return {
    remoteName: identity.name,
    displayName: identity.display_name,
    provider: identity.provider,
    softwareVersion: identity.software_version,
    isEncryptionActive: identity.is_encryption_active,
  };
}

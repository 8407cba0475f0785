import { fail, type Db, type Tx, type Vault } from '@granary/kernel';
import { readArrayChap, type ArrayChap } from '../controllers/chap.ts';
import type { PerformanceService } from '../performance/service.ts';
import { nextName } from '../sequences/repository.ts';
import type { ShareService } from '../shares/service.ts';
import { removeTagsOf } from '../tags/repository.ts';
import type { ArrayTools } from '../tools.ts';
import { findUser, findUserId } from '../users/repository.ts';
import { countVolumesOfServer, listVolumesOfServer } from './attachment-repository.ts';
import { ServerAttachments, type AttachRequest, type WayView } from './attachments.ts';
import { ServerExports } from './exports.ts';
import { changedIdentity, NO_IDENTITY, type Identity, type IdentityRequest } from './identity.ts';
import { ServerMonitor } from './monitor.ts';
import {
  countServers,
  deleteServer,
  findServer,
  findServerCalled,
  findServerOfOthers,
  findTwin,
  findWwpnOwner,
  insertServer,
  listServers,
  listWwpns,
  renameServer,
  replaceWwpns,
  updateServer,
} from './repository.ts';
import type { ServerFields, Server } from './server.ts';
import { checkChap, refuseIpsec } from './rules.ts';
import { ServerSessions } from './sessions.ts';
import { viewOf, type ServerView, type VolumeServerView } from './view.ts';

export interface ServerChange extends IdentityRequest {
  readonly display_name?: string | undefined;
  readonly os?: string | undefined;
  readonly arraychapuser?: string | undefined;
  readonly arraychapsecret?: string | undefined;
  readonly hostchapuser?: string | undefined;
  readonly hostchapsecret?: string | undefined;
  readonly ipsec_iscsi?: boolean | undefined;
  readonly ipsec_nfs?: boolean | undefined;
  readonly monitoring?: boolean | undefined;
  readonly force?: boolean | undefined;
}

export interface NewServer extends ServerChange {
  readonly display_name: string;
}

interface Secrets {
  readonly vault: Vault;
  readonly array: ArrayChap | undefined;
}

const SERVERS_MAX = 4096;
const NAMED_MAX = 5;

/** Who may use the array's volumes: each server is recognised by its iSCSI name, its address, or both. */
export class ServerService {
  readonly sessions: ServerSessions;
  readonly #attachments: ServerAttachments;
  readonly #tools: ArrayTools;
  readonly #performance: PerformanceService;
  readonly #shares: ShareService;
  readonly #exports: ServerExports;
  readonly #monitor: ServerMonitor;

  constructor(tools: ArrayTools, performance: PerformanceService, shares: ShareService) {
    this.#tools = tools;
    this.#performance = performance;
    this.#shares = shares;
    this.#exports = new ServerExports(tools);
    this.#monitor = new ServerMonitor(tools);
    this.sessions = new ServerSessions(tools);
    this.#attachments = new ServerAttachments(tools, { exports: this.#exports, shares, monitor: this.#monitor });
  }

  /** Before requests are served: the engine does not keep exports. */
  async reconcile(): Promise<void> {
    await this.#exports.pushAll();
  }

  /** Secrets that several of them have were changed. */
  async resendAll(): Promise<void> {
    const servers = this.#tools.store.read((db) => listServers(db, 0, 0));
    await this.#exports.pushEach(servers.map(({ name }) => name));
  }

  startWatching(): void {
    this.#monitor.start();
    this.#tools.readings.onReading(() => this.#exports.catchUp());
  }

  #secrets(): Secrets {
    const { store, vault } = this.#tools;
    return { vault, array: store.read((db) => readArrayChap(db, vault)) };
  }

  list(start: number, limit: number): { servers: ServerView[]; count: number } {
    return this.#tools.store.read((db) => ({
      servers: listServers(db, start, limit).map((server) => this.#view(server)),
      count: countServers(db),
    }));
  }

  get(name: string): ServerView {
    return this.#view(this.require(name));
  }

  /** Not found: `server_not_found`. */
  require(name: string): Server {
    return this.#tools.store.read((db) => existing(db, name));
  }

  async create(wanted: NewServer, actor: string): Promise<string> {
    const { store, clock, events } = this.#tools;
    refuseIpsecOf(wanted);
    const identity = changedIdentity(NO_IDENTITY, wanted);
    const fields = {
      ...changedFields(undefined, wanted, this.#secrets()),
      iqn: identity.iqn,
      address: identity.address,
    };
    const name = await store.write((tx) => {
      refuseTakenName(tx, fields.displayName, undefined);
      if (countServers(tx) >= SERVERS_MAX) throw fail('servers_limit', { max: SERVERS_MAX });
      const fresh = nextName(tx, 'srv');
      refuseOthers(tx, identity, actor);
      refuseTwin(tx, fresh, identity, wanted.force === true);
      insertServer(tx, { ...fields, name: fresh, createdBy: findUserId(tx, actor) }, clock.now());
      replaceWwpns(tx, fresh, identity.wwpns);
      const title = `Server ${fields.displayName} (${fresh}) was added.`;
      events.record(tx, { title, subject: `server:${fresh}`, actor });
      return fresh;
    });
    await this.#exports.push(name);
    return name;
  }

  async update(name: string, wanted: ServerChange, actor: string): Promise<void> {
    const { store, clock, events } = this.#tools;
    refuseIpsecOf(wanted);
    await store.write((tx) => {
      const before = existing(tx, name);
      const identity = changedIdentity({ ...before, wwpns: listWwpns(tx, name) }, wanted);
      const fields = {
        ...changedFields(before, wanted, this.#secrets()),
        iqn: identity.iqn,
        address: identity.address,
      };
      refuseTakenName(tx, fields.displayName, name);
      refuseOthers(tx, identity, actor);
      refuseTwin(tx, name, identity, wanted.force === true);
      updateServer(tx, name, fields, clock.now());
      replaceWwpns(tx, name, identity.wwpns);
      const title = `Server ${fields.displayName} (${name}) was changed.`;
      events.record(tx, { title, subject: `server:${name}`, actor });
    });
    await Promise.all([this.#exports.push(name), this.#shares.pushOfServer(name)]);
  }

  async rename(name: string, displayName: string, actor: string): Promise<void> {
    const { store, clock, events } = this.#tools;
    await store.write((tx) => {
      const before = existing(tx, name);
      refuseTakenName(tx, displayName, name);
      renameServer(tx, name, displayName, clock.now());
      const title = `Server ${before.displayName} (${name}) was renamed to ${displayName}.`;
      events.record(tx, { title, subject: `server:${name}`, actor });
    });
  }

  async delete(name: string, actor: string): Promise<void> {
    const { store, events } = this.#tools;
    await store.write((tx) => {
      const server = existing(tx, name);
      refuseAttached(tx, server);
      deleteServer(tx, name);
      removeTagsOf(tx, 'server', name);
      const title = `Server ${server.displayName} (${name}) was removed.`;
      events.record(tx, { title, subject: `server:${name}`, actor });
    });
    this.#performance.remove('server', name);
    await this.#exports.push(name);
  }

  /** Every volume to every server, or none to any. */
  attach(request: AttachRequest, actor: string): Promise<void> {
    return this.#attachments.attach(request, actor);
  }

  /** Those that use it lose it at once. */
  detach(volume: string, servers: readonly string[], actor: string): Promise<void> {
    return this.#attachments.detach(volume, servers, actor);
  }

  setReadOnly(volume: string, server: string, readOnly: boolean, actor: string): Promise<void> {
    return this.#attachments.setReadOnly(volume, server, readOnly, actor);
  }

  /** The servers a volume is attached to, each with the way it reaches it. */
  ofVolume(volume: string, start: number, limit: number): { servers: VolumeServerView[]; count: number } {
    return this.#attachments.ofVolume(volume, start, limit);
  }

  /** How a server reaches a volume: other servers may reach it otherwise. */
  wayTo(volume: string, server: string): WayView {
    return this.#attachments.wayTo(volume, server);
  }

  #view(server: Server): ServerView {
    return viewOf(server, this.#monitor.connectivity(server));
  }
}

function existing(db: Db, name: string): Server {
  const server = findServer(db, name);
  if (!server) throw fail('server_not_found', { id: name });
  return server;
}

function refuseIpsecOf({ ipsec_iscsi = false, ipsec_nfs = false }: ServerChange): void {
  refuseIpsec({ ipsec_iscsi, ipsec_nfs });
}

function refuseTakenName(tx: Tx, displayName: string, own: string | undefined): void {
  const other = findServerCalled(tx, displayName);
  if (other && other.name !== own) throw fail('name_taken', { name: displayName });
}

/**
 * Only an administrator adds a server that logins of another user's server would match. One without an iqn may match
 * any login, so only an administrator adds it.
 */
function refuseOthers(tx: Tx, { iqn }: Identity, actor: string): void {
  const user = findUser(tx, actor);
  if (user?.role !== 'user') return;
  if (iqn === null) throw fail('not_allowed', { roles: 'the role admin for a server without an iqn' });
  const other = findServerOfOthers(tx, iqn, user.id);
  if (other)
    throw fail('not_allowed', {
      roles: `the role admin, because server ${other.displayName} of another user has that iqn`,
    });
}

function refuseTwin(tx: Tx, name: string, { iqn, address, wwpns }: Identity, force: boolean): void {
  const twin = iqn === null && address === null ? undefined : findTwin(tx, name, iqn, address);
  if (twin && !force) throw fail('server_twin', { server: twin.displayName, name: twin.name });
  for (const wwpn of wwpns) {
    const owner = findWwpnOwner(tx, wwpn);
    if (owner !== undefined && owner !== name) throw fail('wwpn_taken', { wwpn, server: owner });
  }
}

function refuseAttached(tx: Tx, { name, displayName }: Server): void {
  const count = countVolumesOfServer(tx, name);
  if (count === 0) return;
  const some = listVolumesOfServer(tx, name, 0, NAMED_MAX);
  const volumes = count > some.length ? `${some.join(', ')} and ${count - some.length} more` : some.join(', ');
  throw fail('server_in_use', { server: displayName, name, volumes });
}

/** Secrets that stay as they are stay sealed as they are. */
function changedFields(
  before: Server | undefined,
  wanted: ServerChange,
  { vault, array }: Secrets,
): Omit<ServerFields, 'iqn' | 'address'> {
  const secrets = {
    arraySecret: changedText(unsealed(before?.arrayChapSecret, vault), wanted.arraychapsecret),
    hostSecret: changedText(unsealed(before?.hostChapSecret, vault), wanted.hostchapsecret),
  };
  const users = {
    arrayUser: changedText(before?.arrayChapUser ?? null, wanted.arraychapuser),
    hostUser: changedText(before?.hostChapUser ?? null, wanted.hostchapuser),
  };
  checkChap({ ...users, ...secrets }, array);
  return {
    displayName: wanted.display_name ?? before?.displayName ?? '',
    os: wanted.os ?? before?.os ?? null,
    arrayChapUser: users.arrayUser,
    arrayChapSecret: secrets.arraySecret === null ? null : vault.seal(secrets.arraySecret),
    hostChapUser: users.hostUser,
    hostChapSecret: secrets.hostSecret === null ? null : vault.seal(secrets.hostSecret),
    isMonitored: wanted.monitoring ?? before?.isMonitored ?? true,
  };
}

function unsealed(sealed: string | null | undefined, vault: Vault): string | null {
  return sealed === null || sealed === undefined ? null : vault.unseal(sealed);
}

/** Empty takes it away. */
function changedText(before: string | null, wanted: string | undefined): string | null {
  if (wanted === undefined) return before;
  return wanted === '' ? null : wanted;
}

import { badParameter, fail, type Tx } from '@granary/kernel';
import { findShare } from '../shares/repository.ts';
import type { ShareService } from '../shares/service.ts';
import type { ArrayTools } from '../tools.ts';
import { findAnyVolume } from '../volumes/repository.ts';
import { titleOf } from '../volumes/rules.ts';
import type { Volume } from '../volumes/volume.ts';
import {
  countServersOfVolume,
  deleteAttachment,
  findAttachment,
  firstFreeLun,
  insertAttachment,
  isLunTaken,
  listServersOfVolume,
  serversHaving,
  setAttachmentReadOnly,
} from './attachment-repository.ts';
import type { Attachment } from './server.ts';
import type { ServerExports } from './exports.ts';
import type { ServerMonitor } from './monitor.ts';
import { findServer } from './repository.ts';
import type { Server } from './server.ts';
import { viewOfVolume, type VolumeServerView } from './view.ts';

export interface AttachRequest {
  readonly servers: readonly string[];
  readonly volumes: readonly string[];
  readonly accessType?: Attachment['accessType'] | undefined;
  readonly lun?: number | undefined;
  readonly readOnly?: boolean | undefined;
  readonly force: boolean;
}

/** The fields of a volume's record that depend on which server reads it. */
export interface WayView {
  readonly server_name?: string;
  readonly lun?: number | null;
  readonly access_type?: Attachment['accessType'];
  readonly read_only?: 'YES' | 'NO';
}

interface Neighbours {
  readonly exports: ServerExports;
  readonly shares: ShareService;
  readonly monitor: ServerMonitor;
}

/** One volume to one server. */
interface Wanted {
  readonly volume: Volume;
  readonly server: Server;
  readonly accessType: Attachment['accessType'];
  readonly request: AttachRequest;
}

const LUN_MAX = 16_383;
const ATTACHED_AT_ONCE_MAX = 1000;

/** Which server reaches which volume, and under what number. */
export class ServerAttachments {
  readonly #tools: ArrayTools;
  readonly #exports: ServerExports;
  readonly #shares: ShareService;
  readonly #monitor: ServerMonitor;

  constructor(tools: ArrayTools, { exports, shares, monitor }: Neighbours) {
    this.#tools = tools;
    this.#exports = exports;
    this.#shares = shares;
    this.#monitor = monitor;
  }

  /** Every volume to every server, or none to any. */
  async attach(request: AttachRequest, actor: string): Promise<void> {
    const { store } = this.#tools;
    const names = { servers: new Set(request.servers), volumes: new Set(request.volumes) };
    if (request.lun !== undefined && names.volumes.size > 1)
      throw badParameter('lun', 'can be given for one volume only');
    if (names.servers.size * names.volumes.size > ATTACHED_AT_ONCE_MAX)
      throw fail('attachments_limit', { max: ATTACHED_AT_ONCE_MAX });
    await store.write((tx) => {
      const servers = [...names.servers].map((name) => existingServer(tx, name));
      for (const name of names.volumes) {
        const volume = attachableVolume(tx, name);
        const accessType = accessTypeFor(tx, volume, request);
        if (!request.force) refuseAttachedElsewhere(tx, volume.name, names.servers);
        for (const server of servers) {
          refuseUnreachable(server, accessType);
          this.#attachOne(tx, { volume, server, accessType, request }, actor);
        }
      }
    });
    await this.#push(names.volumes, names.servers);
  }

  /** Those that use it lose it at once. */
  async detach(volume: string, serverNames: readonly string[], actor: string): Promise<void> {
    const { store, events } = this.#tools;
    const servers = new Set(serverNames);
    await store.write((tx) => {
      const called = titleOf(existingVolume(tx, volume));
      for (const name of servers) {
        const server = existingServer(tx, name);
        if (!deleteAttachment(tx, volume, name)) throw fail('attachment_not_found', { volume, server: name });
        const title = `${called} was detached from server ${server.displayName} (${name}).`;
        events.record(tx, { title, subject: `volume:${volume}`, actor });
      }
    });
    await this.#push([volume], servers);
  }

  async setReadOnly(volume: string, serverName: string, readOnly: boolean, actor: string): Promise<void> {
    const { store, events } = this.#tools;
    await store.write((tx) => {
      const { kind, displayName: called } = existingVolume(tx, volume);
      const server = existingServer(tx, serverName);
      if (!setAttachmentReadOnly(tx, volume, serverName, readOnly))
        throw fail('attachment_not_found', { volume, server: serverName });
      const may = readOnly ? 'may only read' : 'may read and write';
      const title = `Server ${server.displayName} (${serverName}) ${may} ${kind === 'file' ? 'share' : 'volume'} ${called} (${volume}).`;
      events.record(tx, { title, subject: `volume:${volume}`, actor });
    });
    await this.#push([volume], [serverName]);
  }

  /** Volumes are exported server by server, shares each to all its servers. */
  async #push(volumes: Iterable<string>, servers: Iterable<string>): Promise<void> {
    await Promise.all([this.#exports.pushEach(servers), this.#shares.pushEach(volumes)]);
  }

  /** The servers a volume is attached to, each with the way it reaches it. */
  ofVolume(volume: string, start: number, limit: number): { servers: VolumeServerView[]; count: number } {
    const { store, readings } = this.#tools;
    const target = readings.controllers.find(({ state }) => state === 'active')?.target ?? null;
    return store.read((db) => ({
      servers: listServersOfVolume(db, volume, start, limit).map((server) =>
        viewOfVolume(server, this.#monitor.connectivity(server), target),
      ),
      count: countServersOfVolume(db, volume),
    }));
  }

  wayTo(volume: string, server: string): WayView {
    const attachment = this.#tools.store.read((db) => findAttachment(db, volume, server));
    if (!attachment) return {};
    const readOnly = attachment.isReadOnly ? 'YES' : 'NO';
    return { server_name: server, lun: attachment.lun, access_type: attachment.accessType, read_only: readOnly };
  }

  #attachOne(tx: Tx, { volume, server, accessType, request }: Wanted, actor: string): void {
    const { clock, events } = this.#tools;
    const before = findAttachment(tx, volume.name, server.name);
    if (before) {
      refuseOtherTerms(before, request);
      return;
    }
    const lun = accessType === 'ISCSI' ? freeLun(tx, server, request.lun) : null;
    const readOnly = request.readOnly === true;
    insertAttachment(tx, {
      volume: volume.name,
      server: server.name,
      accessType,
      lun,
      isReadOnly: readOnly,
      createdAt: clock.now(),
    });
    const how = lun === null ? `over ${accessType}` : `as LUN ${lun}`;
    const where = `server ${server.displayName} (${server.name}) ${how}`;
    const title = `${titleOf(volume)} was attached to ${where}${readOnly ? ', for reading only' : ''}.`;
    events.record(tx, { title, subject: `volume:${volume.name}`, actor });
  }
}

function freeLun(tx: Tx, server: Server, wanted: number | undefined): number {
  const lun = wanted ?? firstFreeLun(tx, server.name);
  if (lun > LUN_MAX) throw fail('luns_limit', { server: server.name });
  if (isLunTaken(tx, server.name, lun)) throw fail('lun_taken', { lun, server: server.name });
  return lun;
}

function existingVolume(tx: Tx, name: string): Volume {
  const volume = findAnyVolume(tx, name);
  if (!volume) throw fail('volume_not_found', { id: name });
  return volume;
}

function existingServer(tx: Tx, name: string): Server {
  const server = findServer(tx, name);
  if (!server) throw fail('server_not_found', { id: name });
  return server;
}

/** How a volume or share is reached; what it cannot be reached by is refused by name. */
function accessTypeFor(tx: Tx, { name, kind }: Volume, { accessType, lun }: AttachRequest): Attachment['accessType'] {
  if (kind === 'block') {
    if (accessType === undefined || accessType === 'ISCSI') return 'ISCSI';
    throw badParameter('access_type', `must be ISCSI: ${name} is a block volume`);
  }
  if (accessType === 'ISCSI') throw badParameter('access_type', `must be NFS: ${name} is a file share`);
  if (accessType === 'SMB') throw fail('smb_not_served');
  if (lun !== undefined) throw badParameter('lun', `is for block volumes: ${name} is a file share`);
  if (findShare(tx, name)?.options.isSmbOnly === true) throw fail('share_smb_only', { id: name });
  return 'NFS';
}

function refuseUnreachable({ name, iqn, address }: Server, accessType: Attachment['accessType']): void {
  if (accessType === 'ISCSI' && iqn === null && address === null)
    throw fail('server_fibre_channel_only', { server: name });
  if (accessType === 'NFS' && address === null) throw fail('server_without_address', { server: name });
}

const unattachable: Readonly<Partial<Record<Volume['state'], string>>> = {
  creating: 'is still being made; try again in a moment',
  deleting: 'is being deleted',
  binned: 'is in the recycle bin',
};

function attachableVolume(tx: Tx, name: string): Volume {
  const volume = existingVolume(tx, name);
  if (volume.restoring !== null) throw fail('volume_restoring', { id: name, snapshot: volume.restoring });
  const problem =
    volume.mirrorJob === null
      ? unattachable[volume.state]
      : `is the destination of mirror ${volume.mirrorJob}; break the mirror first`;
  if (problem !== undefined) throw fail('volume_state', { id: name, problem });
  return volume;
}

function refuseAttachedElsewhere(tx: Tx, volume: string, servers: ReadonlySet<string>): void {
  const elsewhere = serversHaving(tx, volume).filter((server) => !servers.has(server));
  if (elsewhere.length > 0)
    throw fail('volume_attached', { id: volume, servers: elsewhere.join(', '), instead: ', or use force=YES' });
}

/** Asking again for what is there is fine; asking for it under other terms is not. */
function refuseOtherTerms({ volume, server, lun, isReadOnly }: Attachment, request: AttachRequest): void {
  if (request.lun !== undefined && request.lun !== lun)
    throw fail('attached_as_other_lun', { volume, server, lun: lun ?? 'none' });
  if (request.readOnly !== undefined && request.readOnly !== isReadOnly)
    throw fail('attached_already', { volume, server });
}

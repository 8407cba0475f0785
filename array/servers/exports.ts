import type { Db } from '@granary/kernel';
import { findChap, findHostChap, type SealedChap } from '../controllers/repository.ts';
import { Deliveries } from '../deliveries.ts';
import type { ExportedServer } from '../engine/engine.ts';
import type { ArrayTools } from '../tools.ts';
import { listUnits } from './attachment-repository.ts';
import type { Unit } from './server.ts';
import { findServer, listServers } from './repository.ts';
import type { Server } from './server.ts';

/** Sends the engine what each server may reach over iSCSI. Secrets are unsealed here and nowhere else. */
export class ServerExports {
  readonly #tools: ArrayTools;
  readonly #deliveries: Deliveries;

  constructor(tools: ArrayTools) {
    this.#tools = tools;
    this.#deliveries = new Deliveries(tools, {
      send: (server) => this.#send(server),
      what: 'the exports of a server',
    });
  }

  /** Resolves when the engine does as the records say. */
  push(server: string): Promise<void> {
    return this.#deliveries.push(server);
  }

  pushEach(servers: Iterable<string>): Promise<void> {
    return this.#deliveries.pushEach(servers);
  }

  /** At the start: the engine knows of none. */
  async pushAll(): Promise<void> {
    const { store, engine } = this.#tools;
    const exported = store.read((db) => {
      const units = Map.groupBy(listUnits(db, null), ({ server }) => server);
      return listServers(db, 0, 0).flatMap((server) => this.#exported(db, server, units.get(server.name) ?? []) ?? []);
    });
    const servers = new Map(exported.map((server) => [server.id, server]));
    await this.#deliveries.pushAll([...servers.keys()], async (name) => {
      const server = servers.get(name);
      if (server) await engine.putServer(server);
    });
  }

  /** Tries again what the engine did not take. */
  catchUp(): Promise<void> {
    return this.#deliveries.catchUp();
  }

  async #send(server: string): Promise<void> {
    const { store, engine } = this.#tools;
    const exported = store.read((db) => {
      const found = findServer(db, server);
      return found && this.#exported(db, found, listUnits(db, server));
    });
    await (exported === undefined ? engine.removeServer(server) : engine.putServer(exported));
  }

  /** Undefined when it cannot come over iSCSI: it has Fibre Channel ports alone, or must show a secret that is not there. */
  #exported(db: Db, server: Server, units: readonly Unit[]): ExportedServer | undefined {
    if (server.iqn === null && server.address === null) return undefined;
    const chap = this.#secret(server.arrayChapUser, server.arrayChapSecret) ?? this.#unsealed(findChap(db));
    // One that names the array's user without a secret of its own has to show the array's.
    const isChapRequired = server.arrayChapUser !== null;
    if (isChapRequired && chap === null) return undefined;
    return {
      id: server.name,
      initiator: server.iqn,
      address: server.address,
      chap,
      mutualChap: this.#secret(server.hostChapUser, server.hostChapSecret) ?? this.#unsealed(findHostChap(db)),
      isChapRequired,
      units: units.map(({ lun, volume, isReadOnly, wwid }) => ({ lun, volume, readOnly: isReadOnly, wwid })),
    };
  }

  /** What the controllers' records show: for servers that have no secret of their own. */
  #unsealed(chap: SealedChap | undefined): ExportedServer['chap'] {
    return chap === undefined ? null : this.#secret(chap.user, chap.secret);
  }

  #secret(user: string | null, sealed: string | null): ExportedServer['chap'] {
    return user === null || sealed === null ? null : { user, secret: this.#tools.vault.unseal(sealed) };
  }
}

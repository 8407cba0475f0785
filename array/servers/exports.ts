import { setTimeout as pause } from 'node:timers/promises';
import { fail, type Db, Locks } from '@granary/kernel';
import { findChap } from '../controllers/repository.ts';
import type { ExportedServer } from '../engine/engine.ts';
import { isEngineError } from '../engine/errors.ts';
import type { ArrayTools } from '../tools.ts';
import { listUnits, type UnitRow } from './attachment-repository.ts';
import { findServer, listServers, type ServerRow } from './repository.ts';

const RETRIES_MAX = 40;
const RETRY_MS = 250;
const SENT_AT_ONCE_MAX = 16;

/**
 * Tells the engine what each server may reach: all of it, as it is on record when its turn comes, so that what the
 * engine heard last is what was written last. Secrets are unsealed here and nowhere else.
 */
export class Exports {
  readonly #tools: ArrayTools;
  readonly #turns = new Locks();
  /** Waiting for their turn: whoever comes meanwhile is served by them. */
  readonly #planned = new Map<string, Promise<void>>();
  /** What the engine did not take; tried again at each reading. */
  readonly #behind = new Set<string>();

  constructor(tools: ArrayTools) {
    this.#tools = tools;
  }

  /** Resolves when the engine does as the records say. */
  push(server: string): Promise<void> {
    const planned = this.#planned.get(server);
    if (planned) return planned;
    const push = this.#turns.run(server, () => {
      this.#planned.delete(server);
      return this.#send(server);
    });
    this.#planned.set(server, push);
    return push;
  }

  async pushEach(servers: Iterable<string>): Promise<void> {
    await Promise.all([...servers].map((server) => this.push(server)));
  }

  /** At the start: the engine knows of none. */
  async pushAll(): Promise<void> {
    const { store, engine } = this.#tools;
    const waiting = store.read((db) => {
      const units = Map.groupBy(listUnits(db, null), ({ server }) => server);
      return listServers(db, 0, 0).flatMap((row) => this.#exported(db, row, units.get(row.name) ?? []) ?? []);
    });
    const send = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const { id } = next;
        await engine.putServer(next).catch((error: unknown) => this.#fallBehind(id, error));
      }
    };
    await Promise.all(Array.from({ length: SENT_AT_ONCE_MAX }, send));
  }

  /** Tries again what the engine did not take. */
  async catchUp(): Promise<void> {
    for (const server of this.#behind) await this.push(server).catch(() => undefined);
  }

  async #send(server: string): Promise<void> {
    try {
      await this.#sendPatiently(server);
      this.#behind.delete(server);
    } catch (error) {
      this.#fallBehind(server, error);
      const reason = error instanceof Error ? error.message : String(error);
      throw fail('state_conflict', {
        problem: `The change is on record, but the controllers have not taken it yet and will be told again: ${reason}`,
      });
    }
  }

  #fallBehind(server: string, error: unknown): void {
    this.#behind.add(server);
    this.#tools.log.warn({ error, server }, 'the engine did not take the exports of a server');
  }

  /** A controller that is failing over is there again in a moment. */
  async #sendPatiently(server: string): Promise<void> {
    for (let retries = 0; ; retries++) {
      try {
        await this.#sendOnce(server);
        return;
      } catch (error) {
        if (!isEngineError(error, 'interrupted') || retries >= RETRIES_MAX) throw error;
        await pause(RETRY_MS);
      }
    }
  }

  async #sendOnce(server: string): Promise<void> {
    const { store, engine } = this.#tools;
    const exported = store.read((db) => {
      const row = findServer(db, server);
      return row && this.#exported(db, row, listUnits(db, server));
    });
    await (exported === undefined ? engine.removeServer(server) : engine.putServer(exported));
  }

  /** Undefined when it cannot come over iSCSI: it has Fibre Channel ports alone, or must show a secret that is not there. */
  #exported(db: Db, row: ServerRow, units: readonly UnitRow[]): ExportedServer | undefined {
    if (row.iqn === null && row.address === null) return undefined;
    const chap = this.#secret(row.array_chap_user, row.array_chap_secret) ?? this.#arrayChap(db);
    // One that names the array's user without a secret of its own has to show the array's.
    const isChapRequired = row.array_chap_user !== null;
    if (isChapRequired && chap === null) return undefined;
    return {
      id: row.name,
      initiator: row.iqn,
      address: row.address,
      chap,
      mutualChap: this.#secret(row.host_chap_user, row.host_chap_secret),
      isChapRequired,
      units: units.map(({ lun, volume, read_only, wwid }) => ({ lun, volume, readOnly: read_only === 1, wwid })),
    };
  }

  /** What the controllers' records show: for servers that have no secret of their own. */
  #arrayChap(db: Db): ExportedServer['chap'] {
    const chap = findChap(db);
    return chap === undefined ? null : this.#secret(chap.array_user, chap.array_secret);
  }

  #secret(user: string | null, sealed: string | null): ExportedServer['chap'] {
    return user === null || sealed === null ? null : { user, secret: this.#tools.vault.unseal(sealed) };
  }
}

import { randomInt } from 'node:crypto';
import type { RecordOf } from '@granary/contract';
import type { ServerSession } from '@granary/contract/array';
import { fail, type Db, type HostedConfiguration } from '@granary/kernel';
import type { ControllerReport } from '../engine/report.ts';
import type { VolumeEncryption } from '../settings/encryption.ts';
import type { SettingsService } from '../settings/service.ts';
import type { ArrayTools } from '../tools.ts';
import { Failover } from './failover.ts';
import type { Heartbeat } from './heartbeat.ts';
import { findChap, insertChap } from './repository.ts';
import { viewOf, type ControllerView } from './view.ts';

/** What controllers show of servers, which import them. */
interface ServerReaders {
  sessionsOf(controller: string): Promise<Omit<RecordOf<typeof ServerSession>, 'connected'>[]>;
  /** Fibre Channel ports of all servers. */
  countWwpns(db: Db): number;
}

interface ControllersParts {
  readonly heartbeat: Heartbeat;
  readonly encryption: VolumeEncryption;
  readonly settings: SettingsService;
  readonly servers: ServerReaders;
}

const SECRET_LENGTH = 16;
const SECRET_CHARACTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789';

/** An array has two controllers: one serves, the other stands by. */
export class ControllerService {
  readonly #tools: ArrayTools;
  readonly #parts: ControllersParts;
  readonly #failover: Failover;

  constructor(tools: ArrayTools, parts: ControllersParts) {
    this.#tools = tools;
    this.#parts = parts;
    this.#failover = new Failover(tools);
  }

  /** At the first start: the name and secret servers sign in to the array with. */
  async createChap(): Promise<void> {
    const { store, vault, configuration } = this.#tools;
    const fresh = { user: configuration().internalName, secret: vault.seal(newChapSecret()) };
    await store.write((tx) => insertChap(tx, fresh));
  }

  list(showsSecrets: boolean): ControllerView[] {
    const { store, vault, readings, configuration, clock } = this.#tools;
    const { heartbeat, encryption, settings, servers } = this.#parts;
    const { chap, wwpns } = store.read((db) => ({ chap: findChap(db), wwpns: servers.countWwpns(db) }));
    const shared = {
      configuration: configuration(),
      settings: settings.current(),
      chapUser: chap?.user ?? '',
      chapSecret: chap && showsSecrets ? vault.unseal(chap.secret) : '',
      isPasswordSet: encryption.isPasswordSet,
      isEncryptionActive: encryption.isActive,
      // One that recovers still lacks a drive.
      isIntact: [...readings.groups].every(({ state }) => state === 'normal' || state === 'scrubbing'),
      wwpns,
      cloudHeartbeatAt: heartbeat.cloud,
      nowMs: clock.now(),
    };
    return readings.controllers.map((report) => viewOf(report, shared));
  }

  networks(): HostedConfiguration['interfaces'] {
    return this.#tools.configuration().interfaces;
  }

  failover(isForced: boolean, actor: string): Promise<void> {
    return this.#failover.run(isForced, actor);
  }

  sessions(id: string): ReturnType<ServerReaders['sessionsOf']> {
    return this.#parts.servers.sessionsOf(this.#get(id).name);
  }

  #get(id: string): ControllerReport {
    const found = this.#tools.readings.controllers.find(({ name }) => name === id);
    if (!found) throw fail('controller_not_found', { id });
    return found;
  }
}

/** CHAP secrets have 12 to 16 characters; these are easy to read out. */
function newChapSecret(): string {
  return Array.from({ length: SECRET_LENGTH }, () => SECRET_CHARACTERS[randomInt(SECRET_CHARACTERS.length)]).join('');
}

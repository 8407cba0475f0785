import type { RecordOf } from '@granary/contract';
import type { ServerSession } from '@granary/contract/array';
import { fail, type Db, type HostedConfiguration } from '@granary/kernel';
import type { ControllerReport } from '../engine/report.ts';
import type { VolumeEncryption } from '../settings/encryption.ts';
import type { SettingsService } from '../settings/service.ts';
import type { ArrayTools } from '../tools.ts';
import { ControllerChap, readArrayChap, type ChapServers } from './chap.ts';
import { Failover } from './failover.ts';
import type { Heartbeat } from './heartbeat.ts';
import { viewOf, type ControllerView } from './view.ts';

/** What controllers show of servers, which import them. */
interface ServerReaders extends ChapServers {
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

/** An array has two controllers: one serves, the other stands by. */
export class ControllerService {
  readonly chap: ControllerChap;
  readonly #tools: ArrayTools;
  readonly #parts: ControllersParts;
  readonly #failover: Failover;

  constructor(tools: ArrayTools, parts: ControllersParts) {
    this.#tools = tools;
    this.#parts = parts;
    this.#failover = new Failover(tools);
    this.chap = new ControllerChap(tools, parts.servers);
  }

  list(showsSecrets: boolean): ControllerView[] {
    const { store, vault, readings, configuration, clock } = this.#tools;
    const { heartbeat, encryption, settings, servers } = this.#parts;
    const { chap, wwpns } = store.read((db) => ({
      chap: readArrayChap(db, vault),
      wwpns: servers.countWwpns(db),
    }));
    const shared = {
      configuration: configuration(),
      settings: settings.current(),
      chap,
      showsSecrets,
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

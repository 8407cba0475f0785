import type { LogLevel } from '@granary/kernel';
import type { PortalActor } from '../actor.ts';
import type { Tools } from '../tools.ts';
import { NETWORKS_PER_USER, networksPerUser } from './networks-per-user.ts';
import { readSetting, writeSetting } from './repository.ts';
import { RETENTION, retentionHours } from './retention.ts';

const LOG_LEVEL = 'log_level';

export class SettingService {
  readonly #tools: Tools;

  constructor(tools: Tools) {
    this.#tools = tools;
    tools.log.level = this.logLevel;
  }

  get logLevel(): LogLevel {
    const kept = this.#tools.store.read((db) => readSetting(db, LOG_LEVEL));
    return kept === 'debug' ? 'debug' : 'info';
  }

  get arrayRetentionHours(): number {
    return this.#tools.store.read(retentionHours);
  }

  /** Arrays that are deleted already keep the time they were given. */
  async setArrayRetention(hours: number, actor: PortalActor): Promise<void> {
    const { store, events } = this.#tools;
    const title = `Deleted arrays can be undeleted for ${hours} hours from now on.`;
    await store.write((tx) => {
      writeSetting(tx, RETENTION, String(hours));
      events.record(tx, { title, subject: 'settings', actor: actor.username });
    });
  }

  get networksPerUser(): number {
    return this.#tools.store.read(networksPerUser);
  }

  /** Users who have more keep what they have. */
  async setNetworksPerUser(count: number, actor: PortalActor): Promise<void> {
    const { store, events } = this.#tools;
    const title = `A user may have ${count} virtual networks at a cloud from now on.`;
    await store.write((tx) => {
      writeSetting(tx, NETWORKS_PER_USER, String(count));
      events.record(tx, { title, subject: 'settings', actor: actor.username });
    });
  }

  /** Takes effect at once, and again after a restart. */
  async setLogLevel(level: LogLevel, actor: PortalActor): Promise<void> {
    const { store, events, log } = this.#tools;
    await store.write((tx) => {
      writeSetting(tx, LOG_LEVEL, level);
      events.record(tx, { title: `The log level is now ${level}.`, subject: 'settings', actor: actor.username });
      tx.afterCommit(() => {
        log.level = level;
      });
    });
  }
}

import type { EventLog } from '../events/events.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import type { Store } from '../store/index.ts';
import type { SessionLimits } from './session.ts';

const IDLE = 'session_idle_minutes';
const HOURS = 'session_hours_max';
const DEFAULTS: SessionLimits = { idleMinutes: 30, hoursMax: 12 };

/** The settings of a service that say how long its sessions last; a change counts for those that are open, too. */
export class SessionSettings {
  readonly #store: Store;
  readonly #events: EventLog;
  #known: SessionLimits | undefined;

  constructor({ store, events }: { readonly store: Store; readonly events: EventLog }) {
    this.#store = store;
    this.#events = events;
  }

  current(): SessionLimits {
    this.#known ??= this.#store.read((db) => ({
      idleMinutes: Number(readSetting(db, IDLE) ?? DEFAULTS.idleMinutes),
      hoursMax: Number(readSetting(db, HOURS) ?? DEFAULTS.hoursMax),
    }));
    return this.#known;
  }

  async change({ idleMinutes, hoursMax }: SessionLimits, actor: string): Promise<void> {
    await this.#store.write((tx) => {
      writeSetting(tx, IDLE, String(idleMinutes));
      writeSetting(tx, HOURS, String(hoursMax));
      const title = `Sessions end after ${idleMinutes} minutes without a request and after ${hoursMax} hours.`;
      this.#events.record(tx, { severity: 'notice', title, subject: 'settings:sessions', actor });
      tx.afterCommit(() => {
        this.#known = undefined;
      });
    });
  }
}

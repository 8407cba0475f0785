import type { Clock, EventLog, Log, Store, Tx } from '@granary/kernel';
import { findDriveByUuid, updateDrive } from '../drives/repository.ts';
import type { EngineEvent } from '../engine/events.ts';
import { EventNames } from './names.ts';
import { eventOf, type WordedEvent } from './wording.ts';

interface EngineEventsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly log: Log;
}

const WAITING_MAX = 1000;
const BATCH_MAX = 100;

/** Writes what happens in the engine to the event log, in order, in the words and by the names users know. */
export class EngineEvents {
  readonly #options: EngineEventsOptions;
  #waiting: WordedEvent[] = [];
  #missed = 0;
  #writing: Promise<void> | undefined;

  constructor(options: EngineEventsOptions) {
    this.#options = options;
  }

  accept(event: EngineEvent): void {
    if (event.type === 'recall-wanted' || event.type === 'contents-wanted') return;
    this.#options.log.info({ event }, 'the engine reports');
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(event);
    else this.#missed += 1;
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  /** Resolves when everything taken so far is on record. */
  async whenRecorded(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async #write(): Promise<void> {
    // Others of the same moment come along.
    await Promise.resolve();
    const { store, events, log } = this.#options;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH_MAX);
      this.#waiting = this.#waiting.slice(BATCH_MAX);
      const missed = this.#waiting.length === 0 ? this.#missed : 0;
      this.#missed -= missed;
      try {
        await store.write((tx) => {
          for (const event of batch) this.#record(tx, event);
          if (missed > 0) events.record(tx, { severity: 'warning', title: missedTitle(missed), subject: 'engine' });
        });
      } catch (error) {
        log.error({ error, events: batch }, 'events of the engine could not be recorded');
      }
    }
  }

  #record(tx: Tx, event: WordedEvent): void {
    const { events } = this.#options;
    events.record(tx, eventOf(event, new EventNames(tx)));
    if (event.type === 'drive-failed' || event.type === 'spare-failed') this.#mark(tx, event.drive, true);
    if (event.type === 'drive-returned') this.#mark(tx, event.drive, false);
  }

  /** A drive that failed and was replaced says nothing of it any more: that it failed is kept with it. */
  #mark(tx: Tx, uuid: string, isFailed: boolean): void {
    const drive = findDriveByUuid(tx, uuid);
    const now = this.#options.clock.now();
    if (drive && drive.isFailed !== isFailed) updateDrive(tx, drive.name, { isFailed }, now);
  }
}

function missedTitle(count: number): string {
  return `${count} more things happened in the engine than could be written down at once; the log of the array has them.`;
}

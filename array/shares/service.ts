import { Deliveries } from '../deliveries.ts';
import type { ArrayTools } from '../tools.ts';
import type { ShareReaders } from './readers.ts';
import { findShare, findShares, type Share } from './repository.ts';
import { shareOf } from './rules.ts';
import { servedShare } from './served-share.ts';

/** What servers see of the shares: the engine serves each of them as it is on record. */
export class ShareService {
  readonly #tools: ArrayTools;
  readonly #readers: ShareReaders;
  readonly #deliveries: Deliveries;

  constructor(tools: ArrayTools, readers: ShareReaders) {
    this.#tools = tools;
    this.#readers = readers;
    this.#deliveries = new Deliveries(tools, {
      send: (volume) => this.#send(volume),
      what: 'how a share is served',
      onBehind: (volume, error) =>
        void this.#recordEvent(volume, 'error', `is not served as it should be: ${reasonOf(error)}`),
      onCaughtUp: (volume) => void this.#recordEvent(volume, 'notice', 'is served as it should be again'),
    });
  }

  /** Before requests are served: the engine does not keep how shares are served. */
  reconcile(): Promise<void> {
    return this.#deliveries.pushAll(this.#tools.store.read((db) => this.#readers.listServable(db)));
  }

  startWatching(): void {
    this.#tools.readings.onReading(() => this.catchUp());
  }

  /** Tries again what the engine did not take. */
  catchUp(): Promise<void> {
    return this.#deliveries.catchUp();
  }

  /** Of a block volume: `state_conflict`. */
  get(volume: string): Share {
    return this.#tools.store.read((db) => shareOf(db, volume));
  }

  /** Resolves when it is served as it is on record; nothing for a volume that is no share. */
  push(volume: string): Promise<void> {
    return this.#deliveries.push(volume);
  }

  pushEach(volumes: Iterable<string>): Promise<void> {
    return this.#deliveries.pushEach(volumes);
  }

  /** Like `push`, but what the engine does not take is left to later. */
  attempt(volume: string): Promise<void> {
    return this.#deliveries.attempt(volume);
  }

  /** After snapshots were taken, renamed or marked for deletion: those of shares are shown in them. */
  async followSnapshots(volumes: Iterable<string>): Promise<void> {
    const found = this.#tools.store.read((db) => findShares(db, [...new Set(volumes)]));
    await Promise.all([...found.keys()].map((volume) => this.attempt(volume)));
  }

  /** After a change of the server: where it comes from. */
  async pushOfServer(server: string): Promise<void> {
    await this.pushEach(this.#tools.store.read((db) => this.#readers.listOfServer(db, server)));
  }

  async #send(volume: string): Promise<void> {
    const { store, engine } = this.#tools;
    const { isShare, served } = store.read((db) => ({
      isShare: findShare(db, volume) !== undefined,
      served: servedShare(db, volume, this.#readers),
    }));
    if (served) await engine.putShare(served);
    else if (isShare) await engine.removeShare(volume);
  }

  async #recordEvent(volume: string, severity: 'error' | 'notice', what: string): Promise<void> {
    const { store, events, log } = this.#tools;
    try {
      await store.write((tx) => {
        const share = this.#readers.titleOf(tx, volume);
        if (share !== undefined)
          events.record(tx, { severity, title: `${share} ${what}.`, subject: `volume:${volume}` });
      });
    } catch (error) {
      log.error({ error, volume }, 'an event of a share could not be recorded');
    }
  }
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}

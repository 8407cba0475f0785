import type { EncryptionChange } from '../process/messages.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/index.ts';

const LOOK_EVERY_MS = 1_000;

interface Options {
  readonly store: Store;
  readonly log: Log;
  /** Hands them to the cloud. */
  readonly report: (changes: readonly EncryptionChange[]) => Promise<void>;
}

/**
 * Reports to the cloud when the encryption of an array came and went. Triggers of the array's database write each change
 * with its time (`encryption_changes`, see the migrations of arrays); the last hundred are kept and always reported
 * together. So a report that is lost delays the bill and does not change it: the next one, at the latest that of the
 * next start, says the same. Only what is durable is reported.
 */
export class EncryptionReports {
  readonly #options: Options;
  #reported: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves when what was there at the start has been handed over. */
  async start(): Promise<void> {
    await this.#look();
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  /** With what changed in the last moment. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#look();
  }

  #look(): Promise<void> {
    this.#turn = this.#turn
      .then(() => this.#report())
      .catch((error: unknown) =>
        this.#options.log.error({ error }, 'changes of encryption could not be reported; they are reported again'),
      );
    return this.#turn;
  }

  async #report(): Promise<void> {
    const { store, report } = this.#options;
    const changes = store.read((db) =>
      db.all<{ id: string; active: number; at: number }>(
        'SELECT id, active, at FROM encryption_changes ORDER BY number',
      ),
    );
    const newest = changes.at(-1)?.id;
    if (newest === this.#reported) return;
    await store.whenDurable();
    await report(changes.map(({ id, active, at }) => ({ id, active: active === 1, at })));
    this.#reported = newest;
  }
}

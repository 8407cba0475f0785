import { timingSafeEqual } from 'node:crypto';
import { fingerprint, newSecret, type Vault } from '../auth/vault.ts';
import type { EventLog } from '../events/events.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import type { Store } from '../store/index.ts';

const KEY = 'metrics_token';
const NONE = '';

interface MetricsTokenParts {
  readonly store: Store;
  readonly vault: Vault;
}

/** What opens `/metrics`, and nothing else, to programs on other machines. One a service; sealed on disk. */
export class MetricsToken {
  readonly #parts: MetricsTokenParts;
  #known: { readonly sealed: string; readonly print: string } | undefined;

  constructor(parts: MetricsTokenParts) {
    this.#parts = parts;
  }

  /** Null when there is none. */
  current(): string | null {
    const sealed = this.#sealed();
    return sealed === NONE ? null : this.#parts.vault.unseal(sealed);
  }

  isToken(given: string): boolean {
    const sealed = this.#sealed();
    if (sealed === NONE) return false;
    // A token is unsealed once, not at every request with a wrong one.
    if (this.#known?.sealed !== sealed) this.#known = { sealed, print: fingerprint(this.#parts.vault.unseal(sealed)) };
    return timingSafeEqual(Buffer.from(fingerprint(given)), Buffer.from(this.#known.print));
  }

  /** A new one; the one before no longer opens anything. */
  async create(events: EventLog, actor: string): Promise<string> {
    const { store, vault } = this.#parts;
    const token = newSecret();
    await store.write((tx) => {
      writeSetting(tx, KEY, vault.seal(token));
      const title = 'A new token for reading metrics was made.';
      events.record(tx, { severity: 'notice', title, subject: 'settings:metrics', actor });
    });
    return token;
  }

  async delete(events: EventLog, actor: string): Promise<void> {
    await this.#parts.store.write((tx) => {
      writeSetting(tx, KEY, NONE);
      const title = 'The token for reading metrics was removed.';
      events.record(tx, { severity: 'notice', title, subject: 'settings:metrics', actor });
    });
  }

  #sealed(): string {
    return this.#parts.store.read((db) => readSetting(db, KEY)) ?? NONE;
  }
}

interface NamedActor {
  readonly username: string;
}

/** The handlers of `metricsTokenEndpoints`, for whichever service declares them. */
export function metricsTokenRoutes({ store, vault, events }: MetricsTokenParts & { readonly events: EventLog }) {
  const token = new MetricsToken({ store, vault });
  return {
    getMetricsToken: () => ({ metrics_token: token.current() }),
    createMetricsToken: async (_: unknown, { actor }: { actor: NamedActor }) => ({
      metrics_token: await token.create(events, actor.username),
    }),
    deleteMetricsToken: async (_: unknown, { actor }: { actor: NamedActor }) => {
      await token.delete(events, actor.username);
      return {};
    },
  };
}

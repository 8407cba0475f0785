import { setTimeout as pause } from 'node:timers/promises';
import { fail, Locks } from '@granary/kernel';
import { isEngineError } from './engine/errors.ts';
import type { ArrayTools } from './tools.ts';

const RETRIES_MAX = 40;
const RETRY_MS = 250;
const SENT_AT_ONCE_MAX = 16;

/** What the engine did not take: after each failure it is left alone for twice as many readings. */
interface Behind {
  readonly failures: number;
  waits: number;
}

const WAITS_MAX = 60;

interface DeliveryOptions {
  /** Sends the whole present state of one record to the engine. */
  readonly send: (name: string) => Promise<void>;
  /** Written to the log with what the engine did not take. */
  readonly what: string;
  /** Called when the engine does not take something, and when it has taken it after all. */
  readonly onBehind?: (name: string, error: unknown) => void;
  readonly onCaughtUp?: (name: string) => void;
}

/**
 * Sends records to the engine: each whole, as it is when its turn comes, so that what the engine got
 * last is what was written last.
 */
export class Deliveries {
  readonly #tools: ArrayTools;
  readonly #options: DeliveryOptions;
  readonly #turns = new Locks();
  /** Queued deliveries: later requests for the same name share the one that waits. */
  readonly #planned = new Map<string, Promise<void>>();
  readonly #behind = new Map<string, Behind>();

  constructor(tools: ArrayTools, options: DeliveryOptions) {
    this.#tools = tools;
    this.#options = options;
  }

  /** Resolves when the engine does as the records say. */
  push(name: string): Promise<void> {
    const planned = this.#planned.get(name);
    if (planned) return planned;
    const push = this.#turns.run(name, () => {
      this.#planned.delete(name);
      return this.#deliver(name);
    });
    this.#planned.set(name, push);
    return push;
  }

  async pushEach(names: Iterable<string>): Promise<void> {
    await Promise.all([...names].map((name) => this.push(name)));
  }

  /** A failure is retried later; the caller does not see it. */
  async attempt(name: string): Promise<void> {
    await this.push(name).catch(() => undefined);
  }

  /** At the start, when the engine knows of none: some at once, none waits for another that fails. */
  async pushAll(names: readonly string[], send = this.#options.send): Promise<void> {
    const waiting = [...names];
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const name = next;
        await send(name).catch((error: unknown) => this.#fallBehind(name, error));
      }
    };
    await Promise.all(Array.from({ length: SENT_AT_ONCE_MAX }, work));
  }

  /** At each reading: tries again what the engine did not take. */
  async catchUp(): Promise<void> {
    for (const [name, behind] of this.#behind) {
      if (behind.waits === 0) await this.attempt(name);
      else behind.waits -= 1;
    }
  }

  async #deliver(name: string): Promise<void> {
    try {
      await this.#sendPatiently(name);
      if (this.#behind.delete(name)) this.#options.onCaughtUp?.(name);
    } catch (error) {
      this.#fallBehind(name, error);
      const reason = error instanceof Error ? error.message : String(error);
      throw fail('change_not_delivered', { reason });
    }
  }

  #fallBehind(name: string, error: unknown): void {
    const failures = (this.#behind.get(name)?.failures ?? 0) + 1;
    this.#behind.set(name, { failures, waits: Math.min(2 ** (failures - 1) - 1, WAITS_MAX) });
    if (failures === 1) this.#options.onBehind?.(name, error);
    this.#tools.log.warn({ error, name }, `the engine did not take ${this.#options.what}`);
  }

  /** A controller that is failing over is there again in a moment. */
  async #sendPatiently(name: string): Promise<void> {
    for (let retries = 0; ; retries++) {
      try {
        await this.#options.send(name);
        return;
      } catch (error) {
        if (!isEngineError(error, 'interrupted') || retries >= RETRIES_MAX) throw error;
        await pause(RETRY_MS);
      }
    }
  }
}

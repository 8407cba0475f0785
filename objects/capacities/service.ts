import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CapacityHistory, CapacityPoint, Filled } from '@granary/kernel';
import { listAccountsAfter, listAccountsSince } from '../accounts/repository.ts';
import type { ObjectAccountService } from '../accounts/service.ts';
import type { ObjectsActor } from '../actor.ts';
import type { PolicyService } from '../policies/service.ts';
import type { ObjectsTools } from '../tools.ts';

type Tools = Pick<ObjectsTools, 'store' | 'clock' | 'figures' | 'log'>;

interface Parts {
  readonly history: CapacityHistory;
  readonly accounts: Pick<ObjectAccountService, 'get'>;
  readonly policies: Pick<PolicyService, 'get'>;
}

const ACCOUNT = 'account';
const POLICY = 'policy';
const LOOK_EVERY_MS = 60_000;
const ACCOUNTS_PER_TURN = 100;

/**
 * How much accounts and storage policies held over time. Accounts count each object once; policies count what is on their
 * drives, and are recorded by the forecasts.
 */
export class CapacityService {
  readonly #tools: Tools;
  readonly #parts: Parts;
  #timer: NodeJS.Timeout | undefined;
  #recording: Promise<void> = Promise.resolve();
  #seenUntil = 0;

  constructor(tools: Tools, parts: Parts) {
    this.#tools = tools;
    this.#parts = parts;
  }

  start(): void {
    this.#recording = this.record();
    this.#timer = setInterval(() => {
      this.#recording = this.#recording.then(() => this.record());
    }, LOOK_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#recording;
  }

  /** A point of each account when an hour has passed; of a new one at once, so that its growth has a beginning. */
  async record(): Promise<void> {
    const { clock, log } = this.#tools;
    const { history } = this.#parts;
    const now = clock.now();
    try {
      if (history.isDue(ACCOUNT)) {
        const all = await this.#accounts();
        await history.record(ACCOUNT, all, new Set(all.map(({ id }) => id)));
      } else await history.begin(ACCOUNT, this.#newAccounts());
      this.#seenUntil = now;
    } catch (error) {
      log.warn({ error }, 'how much accounts hold could not be kept');
    }
  }

  ofAccount(actor: ObjectsActor, id: string): CapacityPoint[] {
    return this.#parts.history.points(ACCOUNT, this.#filled(this.#parts.accounts.get(actor, id).id));
  }

  ofPolicy(name: string): CapacityPoint[] {
    const { name: id, report } = this.#parts.policies.get(name);
    return this.#parts.history.points(POLICY, { id, usedBytes: report.usedBytes });
  }

  /** With a pause now and then: there may be very many. */
  async #accounts(): Promise<Filled[]> {
    const found: Filled[] = [];
    let last = { name: '', id: '' };
    for (;;) {
      const after = last;
      const rows = this.#tools.store.read((db) => listAccountsAfter(db, after, ACCOUNTS_PER_TURN));
      for (const { id, state } of rows) if (state !== 'deleted') found.push(this.#filled(id));
      const end = rows.at(-1);
      if (!end) return found;
      last = end;
      await nextTurn();
    }
  }

  #newAccounts(): Filled[] {
    const rows = this.#tools.store.read((db) => listAccountsSince(db, this.#seenUntil));
    return rows.map(({ id }) => this.#filled(id));
  }

  #filled(id: string): Filled {
    return { id, usedBytes: this.#tools.figures.usage(id).bytes, capacityBytes: 0 };
  }
}

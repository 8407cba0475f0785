import type { ArrayTools } from '../tools.ts';
import { findActivePolicies, findDueRules } from './repository.ts';
import type { SnapshotPolicy, SnapshotRule } from './policy.ts';
import { scheduleOf } from './schedule.ts';

export interface DueRule extends SnapshotRule {
  readonly of: SnapshotPolicy;
}

type Tools = Pick<ArrayTools, 'store' | 'clock' | 'log'>;

/** Time may be set, and a machine may sleep: it looks at the clock again at least this often. */
const LOOK_EVERY_MS = 60_000;
const RETRY_MS = 5_000;

/**
 * Runs what is due by the clock: one timer for all rules, set to the next time any of them comes. What was missed while
 * the array was down is due at once, and once.
 */
export class SnapshotScheduler {
  readonly #tools: Tools;
  readonly #run: (due: readonly DueRule[], at: number) => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isStarted = false;

  constructor(tools: Tools, run: (due: readonly DueRule[], at: number) => Promise<void>) {
    this.#tools = tools;
    this.#run = run;
  }

  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Something was attached, resumed or given other times. */
  wake(): void {
    if (this.#isStarted && !this.#running) this.#poll();
  }

  /** Everything that is due now, once. */
  async runDue(): Promise<void> {
    const { store, clock } = this.#tools;
    const at = clock.now();
    const due = store.read((db) =>
      findActivePolicies(db).flatMap((policy) => {
        const dueAt = scheduleOf(policy.schedule)?.last(at);
        return dueAt === undefined ? [] : findDueRules(db, policy.name, dueAt).map((rule) => ({ ...rule, of: policy }));
      }),
    );
    if (due.length > 0) await this.#run(due, at);
  }

  /** How long until a time of any policy comes, as far as it is worth waiting. */
  untilNext(): number {
    const { store, clock } = this.#tools;
    const now = clock.now();
    const times = store
      .read(findActivePolicies)
      .map(({ schedule: create_policy }) => scheduleOf(create_policy)?.next(now));
    const next = Math.min(...times.filter((time) => time !== undefined));
    return Math.min(LOOK_EVERY_MS, next - now);
  }

  #poll(): void {
    clearTimeout(this.#timer);
    this.#running = this.#runAndSleep().finally(() => (this.#running = undefined));
  }

  async #runAndSleep(): Promise<void> {
    let sleepMs = RETRY_MS;
    try {
      await this.runDue();
      sleepMs = this.untilNext();
    } catch (error) {
      this.#tools.log.error({ error }, 'snapshots that are due could not be taken');
    }
    if (!this.#isStarted) return;
    this.#timer = setTimeout(() => this.#poll(), sleepMs);
    this.#timer.unref();
  }
}

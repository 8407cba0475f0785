import { fail, type JobOutcome, type RunningJob, type Tx } from '@granary/kernel';
import type { ObjectsActor } from '../actor.ts';
import type { PeopleTools } from '../tools.ts';
import * as repository from './repository.ts';
import type { Account } from './account.ts';
import { inScope, refuseSystem } from './rules.ts';

interface Deleted {
  readonly id: string;
  readonly name: string;
  readonly actor: string;
}

/** What was removed until now. */
interface Progress {
  readonly removed: number;
}

/** Removes what another service keeps of an account for its bills. */
export type CleanUpAccount = (account: string) => Promise<void> | void;

/** Records of other resources that go with an account, in the same transaction. */
export interface AccountDependents {
  /** Returns how many there were. */
  readonly deleteUsersOf: (tx: Tx, account: string) => number;
  readonly deleteGrantsOf: (tx: Tx, account: string) => void;
}

const DELETE = 'delete-account';
const CLEAN_UP = 'clean-up-account';
const VERSIONS_PER_STEP = 1_000;

/**
 * An account goes in two moves: its users at once and its data step by step, then, when its last bill is written, the
 * record itself with what it is billed by.
 */
export class AccountDeletion {
  readonly #tools: PeopleTools;
  readonly #dependents: AccountDependents;
  readonly #cleanUps: CleanUpAccount[] = [];

  constructor(tools: PeopleTools, dependents: AccountDependents) {
    this.#tools = tools;
    this.#dependents = dependents;
    tools.jobs.register<Deleted, Progress>(
      DELETE,
      (job) => this.#purge(job),
      (tx, account, reason) => this.#recordFailure(tx, account, `could not be deleted: ${reason}`),
      { frees: true },
    );
    tools.jobs.register<Deleted, Progress>(
      CLEAN_UP,
      (job) => this.#cleanUp(job),
      (tx, account, reason) => this.#recordFailure(tx, account, `could not be cleaned up: ${reason}`),
      { frees: true },
    );
  }

  /** A service that keeps figures of accounts registers here how they are removed. */
  onCleanUp(forget: CleanUpAccount): void {
    this.#cleanUps.push(forget);
  }

  /** Returns the job that is at it; undefined where nothing is left to do. What failed is tried again. */
  delete(id: string, actor: ObjectsActor): Promise<number | undefined> {
    const { store, clock, events, changed } = this.#tools;
    return store.write((tx) => {
      const account = inScope(repository.findAccount(tx, id), id, null);
      refuseSystem(account, 'deleted');
      if (account.state === 'deleted') return undefined;
      const present = this.#tools.jobs.unfinished(tx, jobSubject(id));
      if (present !== undefined) return present;
      repository.setState(tx, id, 'deleting', clock.now());
      const users = this.#dependents.deleteUsersOf(tx, id);
      const title = `Account ${account.name} is being deleted; ${users} users were removed.`;
      events.record(tx, { severity: 'warning', title, subject: subjectOf(account), actor: actor.username });
      tx.afterCommit(changed);
      return this.#enqueue(tx, DELETE, account, actor);
    });
  }

  cleanUp(id: string, actor: ObjectsActor): Promise<number> {
    return this.#tools.store.write((tx) => {
      const account = inScope(repository.findAccount(tx, id), id, null);
      if (account.state !== 'deleted') throw fail('account_not_deleted', { name: account.name });
      return this.#tools.jobs.unfinished(tx, jobSubject(id)) ?? this.#enqueue(tx, CLEAN_UP, account, actor);
    });
  }

  #enqueue(tx: Tx, kind: string, { id, name }: Account, { username }: ObjectsActor): number {
    return this.#tools.jobs.enqueue(tx, kind, jobSubject(id), { id, name, actor: username });
  }

  async #purge(job: RunningJob<Deleted, Progress>): Promise<JobOutcome> {
    const { id, name, actor } = job.arguments;
    const removed = await this.#removeData(job);
    if (removed === undefined) return { outcome: 'retry', afterMs: 0, reason: 'It goes on after the next start.' };
    return {
      outcome: 'done',
      finish: (tx) => {
        const { clock, events, changed } = this.#tools;
        repository.setState(tx, id, 'deleted', clock.now());
        const title = `Account ${name} was deleted with ${removed} versions, uploads and containers.`;
        events.record(tx, { severity: 'warning', title, subject: `account:${name}`, actor });
        tx.afterCommit(changed);
      },
    };
  }

  async #cleanUp(job: RunningJob<Deleted, Progress>): Promise<JobOutcome> {
    const { id, name, actor } = job.arguments;
    // What was on its way into the account when it was deleted may have come in after it.
    if ((await this.#removeData(job)) === undefined)
      return { outcome: 'retry', afterMs: 0, reason: 'It goes on after the next start.' };
    for (const forget of this.#cleanUps) await forget(id);
    return {
      outcome: 'done',
      finish: (tx) => {
        const { events, changed } = this.#tools;
        repository.deleteAccount(tx, id);
        this.#dependents.deleteGrantsOf(tx, id);
        const title = `The billing data of account ${name} was removed.`;
        events.record(tx, { severity: 'notice', title, subject: `account:${name}`, actor });
        tx.afterCommit(changed);
      },
    };
  }

  /** Until a step finds nothing at all; undefined when the array stops before. */
  async #removeData(job: RunningJob<Deleted, Progress>): Promise<number | undefined> {
    const { commit, clock } = this.#tools;
    const { id: account } = job.arguments;
    let removed = job.checkpoint?.removed ?? 0;
    for (;;) {
      if (job.signal.aborted) return undefined;
      const step = await commit('purgeAccount', { account, limit: VERSIONS_PER_STEP, at: clock.now() });
      removed += step.removed;
      if (step.done && step.removed === 0) return removed;
      await job.save(this.#percentOf(account, removed), `${removed} removed.`, { removed });
    }
  }

  #percentOf(account: string, removed: number): number {
    const { objects, buckets } = this.#tools.figures.usage(account);
    return Math.min(99, (100 * removed) / (removed + objects + buckets));
  }

  #recordFailure(tx: Tx, { name }: Deleted, what: string): void {
    const title = `Account ${name} ${what}`;
    this.#tools.events.record(tx, { severity: 'error', title, subject: `account:${name}` });
  }
}

function subjectOf({ name }: Account): string {
  return `account:${name}`;
}

/** By id: names are used again. */
function jobSubject(id: string): string {
  return `account:${id}`;
}

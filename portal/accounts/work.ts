import type { JobOutcome, RunningJob, Tx } from '@granary/kernel';
import type { AccountId, ArrayId, RequestId } from '../ids.ts';
import type { PortalArray } from '../arrays/array.ts';
import { ArrayRefusal, isUnreachable } from '../arrays/objects-connection.ts';
import type { Opened } from '../arrays/public-services/accounts.ts';
import type { ArrayStates } from '../arrays/states.ts';
import { deleteRequest } from '../requests/repository.ts';
import type { RequestService } from '../requests/service.ts';
import type { Tools } from '../tools.ts';
import type { ObjectAccount } from './account.ts';
import type { AccountOpening } from './opening.ts';
import type { RemoteAccounts } from './remote.ts';
import * as repository from './repository.ts';

const OPEN = 'account.open';
const REMOVE = 'account.remove';
const RETRY_MS = 2_000;
/** How long an array that does not answer is waited for before the account is as it was. */
const GIVE_UP_MS = 10 * 60_000;

interface Opening {
  readonly accountId: AccountId;
  readonly admin: string;
  readonly email: string;
  /** It needed no approval: without the account there is no request either. */
  readonly atOnce: boolean;
}

interface Removal {
  readonly accountId: AccountId;
  readonly requestId: RequestId;
}

interface Parts {
  readonly tools: Tools;
  readonly states: ArrayStates;
  readonly requests: RequestService;
  readonly remote: RemoteAccounts;
  readonly opening: AccountOpening;
}

/**
 * Opens and removes accounts on their arrays. It is a job of its own, and each step asks first how things stand, so
 * that portal and array agree in the end wherever either of them is cut off.
 */
export class AccountWork {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { jobs } = parts.tools;
    jobs.register<Opening, Opened>(
      OPEN,
      (job) =>
        this.#work(
          job.arguments.accountId,
          'creating',
          (account, array) => this.#open(job, account, array),
          this.#undoOpening(job.arguments),
        ),
      (tx, args, reason) => this.#undoOpening(args)(tx, reason),
    );
    jobs.register<Removal>(
      REMOVE,
      (job) =>
        this.#work(
          job.arguments.accountId,
          'deleting',
          (account, array) => this.#remove(account, array),
          this.#undoRemoval(job.arguments),
        ),
      (tx, args, reason) => this.#undoRemoval(args)(tx, reason),
      { frees: true },
    );
  }

  /** Both return the job. */
  startOpening(tx: Tx, opening: Opening): number {
    return this.#parts.tools.jobs.enqueue(tx, OPEN, subjectOf(opening), opening);
  }

  startRemoval(tx: Tx, removal: Removal): number {
    return this.#parts.tools.jobs.enqueue(tx, REMOVE, subjectOf(removal), removal);
  }

  /** The frame of both: is it still wanted, and what if the array does not answer or says no. */
  async #work(
    accountId: AccountId,
    status: ObjectAccount['status'],
    act: (account: ObjectAccount, array: PortalArray) => Promise<JobOutcome>,
    undo: (tx: Tx, reason: string) => void,
  ): Promise<JobOutcome> {
    const { tools, states } = this.#parts;
    const account = tools.store.read((db) => repository.findAccountById(db, accountId));
    if (account?.status !== status) return { outcome: 'failed', reason: 'The account went with its array.' };
    const array = tools.store.read((db) => states.existing(db, account.arrayId));
    try {
      return array.status === 'created' ? await act(account, array) : later(`Array ${array.name} is ${array.status}.`);
    } catch (error) {
      const isLate = tools.clock.now() - account.updatedAt > GIVE_UP_MS;
      if (isUnreachable(error) && !isLate) return later(error.message);
      if (!isUnreachable(error) && !(error instanceof ArrayRefusal)) throw error;
      const reason = error.message;
      return { outcome: 'failed', reason, finish: (tx) => undo(tx, reason) };
    }
  }

  async #open(job: RunningJob<Opening, Opened>, account: ObjectAccount, array: PortalArray): Promise<JobOutcome> {
    const { tools, states, opening } = this.#parts;
    const { password = '' } = JSON.parse(tools.vault.unseal(account.secretsSealed ?? '')) as { password?: string };
    const { admin: username, email } = job.arguments;
    const administrator = { username, email, password };
    const remoteId = await opening.open(job, array, { name: account.name, administrator });
    return {
      outcome: 'done',
      finish: (tx) => {
        repository.setCreated(tx, account.id, remoteId, tools.clock.now());
        states.touch(tx, array.id);
        this.#recordEvent(tx, array.id, `Account ${account.name} was opened on array ${array.name}.`);
      },
    };
  }

  async #remove(account: ObjectAccount, array: PortalArray): Promise<JobOutcome> {
    const { remote } = this.#parts;
    if (account.remoteId !== null && !(await remote.delete(array, account.remoteId)))
      return later(`Array ${array.name} removes what the account holds.`);
    return {
      outcome: 'done',
      finish: (tx) => {
        repository.deleteAccount(tx, account.id);
        this.#recordEvent(tx, array.id, `Account ${account.name} was removed from array ${array.name}.`);
      },
    };
  }

  /** The request waits again, if there was one to wait for; else nothing is kept. */
  #undoOpening({ accountId, atOnce }: Opening): (tx: Tx, reason: string) => void {
    return (tx, reason) => {
      const { tools, requests } = this.#parts;
      const account = repository.findAccountById(tx, accountId);
      if (!account) return;
      if (atOnce) deleteRequest(tx, account.requestId);
      if (!atOnce && requests.reopen(tx, account.requestId, reason, account.secretsSealed))
        repository.setStatus(tx, account.id, 'waiting_for_approval', tools.clock.now());
      else repository.deleteAccount(tx, account.id);
      this.#recordEvent(tx, account.arrayId, `Account ${account.name} was not opened: ${reason}`, 'warning');
    };
  }

  #undoRemoval({ accountId, requestId }: Removal): (tx: Tx, reason: string) => void {
    return (tx, reason) => {
      const { tools, requests } = this.#parts;
      const account = repository.findAccountById(tx, accountId);
      if (!account) return;
      requests.reopen(tx, requestId, reason, null);
      repository.setStatus(tx, account.id, 'created', tools.clock.now());
      this.#recordEvent(tx, account.arrayId, `Account ${account.name} was not removed: ${reason}`, 'warning');
    };
  }

  #recordEvent(tx: Tx, arrayId: ArrayId, title: string, severity: 'notice' | 'warning' = 'notice'): void {
    this.#parts.tools.events.record(tx, { title, subject: `array:${arrayId}`, severity });
  }
}

function later(reason: string): JobOutcome {
  return { outcome: 'retry', afterMs: RETRY_MS, reason };
}

function subjectOf({ accountId }: { readonly accountId: AccountId }): string {
  return `account:${accountId}`;
}

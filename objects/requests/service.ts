import {
  badParameters,
  fail,
  hashPassword,
  isMailAddress,
  subjectLine,
  type FieldProblem,
  type Page,
  type Tx,
} from '@granary/kernel';
import { findAccountNamed } from '../accounts/repository.ts';
import { checkAccountName } from '../accounts/rules.ts';
import type { ObjectAccountService } from '../accounts/service.ts';
import type { ObjectsActor } from '../actor.ts';
import type { Mailbox } from '../mail/mailbox.ts';
import { Quota } from '../quota.ts';
import type { PeopleTools } from '../tools.ts';
import { checkPassword } from '../users/passwords.ts';
import { checkUsername, type ObjectUserService } from '../users/service.ts';
import * as repository from './repository.ts';
import type { AccountRequest, RequestState } from './request.ts';

interface Registration {
  readonly username: string;
  readonly account: string;
  readonly email: string;
  readonly password: string;
}

interface RequestsParts {
  readonly accounts: ObjectAccountService;
  readonly users: ObjectUserService;
  readonly mailbox: Mailbox;
}

const HOUR_MS = 3600 * 1000;
const PER_ADDRESS = 50;
const PENDING_MAX = 10_000;
const KEPT_MAX = 100_000;
/** What no name holds: control characters. */
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Accounts that people without one ask for; an administrator of the array decides. */
export class AccountRequests {
  readonly #tools: PeopleTools;
  readonly #parts: RequestsParts;
  readonly #quota: Quota;

  constructor(tools: PeopleTools, parts: RequestsParts) {
    this.#tools = tools;
    this.#parts = parts;
    this.#quota = new Quota({ clock: tools.clock, max: PER_ADDRESS, windowMs: HOUR_MS });
  }

  list(state: RequestState | undefined, page: Page): { requests: AccountRequest[]; count: number } {
    return this.#tools.store.read((db) => ({
      requests: repository.listRequests(db, state, page),
      count: repository.countRequests(db, state),
    }));
  }

  async create(asked: Registration, ip: string): Promise<number> {
    const { store, clock, events } = this.#tools;
    checkRegistration(asked);
    this.#quota.consume(ip);
    const { account, username, email } = asked;
    const passwordHash = await hashPassword(asked.password);
    return store.write((tx) => {
      if (repository.countRequests(tx, 'pending') >= PENDING_MAX) throw fail('requests_limit');
      const id = repository.insertRequest(tx, { account, username, email, passwordHash, requestedAt: clock.now() });
      repository.deleteOldestDecided(tx, KEPT_MAX);
      // The answer does not say so: an unauthenticated client could find out which accounts exist. It cannot be approved.
      const taken = findAccountNamed(tx, account) ? ' The name is taken.' : '';
      const title = `Account ${account} was asked for by ${username} from ${ip} (request ${id}).${taken}`;
      events.record(tx, { severity: 'notice', title, subject: `request:${id}` });
      return id;
    });
  }

  /** Returns the id of the new account. */
  approve(id: number, actor: ObjectsActor): Promise<string> {
    const { accounts, users } = this.#parts;
    return this.#tools.store.write((tx) => {
      const request = this.#pending(tx, id);
      const { account, username, email, passwordHash } = request;
      const accountId = accounts.open(tx, account, actor);
      users.add(tx, accountId, {
        username,
        email,
        role: 'account_admin',
        notifyOnEvents: false,
        passwordHash,
        code: null,
        // It is their own already.
        initPasswordChanged: true,
      });
      this.#decide(tx, request, 'approved', actor);
      return accountId;
    });
  }

  deny(id: number, actor: ObjectsActor): Promise<void> {
    return this.#tools.store.write((tx) => {
      this.#decide(tx, this.#pending(tx, id), 'denied', actor);
    });
  }

  #pending(tx: Tx, id: number): AccountRequest {
    const request = repository.findRequest(tx, id);
    if (!request) throw fail('request_not_found', { id });
    if (request.state !== 'pending') throw fail('already_decided', { id, status: request.state });
    return request;
  }

  #decide(tx: Tx, request: AccountRequest, state: 'approved' | 'denied', { username: by }: ObjectsActor): void {
    const { clock, events, configuration } = this.#tools;
    const { id, account, email, username } = request;
    repository.decideRequest(tx, id, { state, decidedBy: by, decidedAt: clock.now() });
    const title = `Request ${id} for account ${account} was ${state}.`;
    events.record(tx, { severity: 'notice', title, subject: `request:${id}`, actor: by });
    const { displayName, managementUrl } = configuration();
    const text =
      state === 'approved'
        ? `The account ${account} is open. Sign in to it as ${username}: POST ${managementUrl}/api/users/authenticate.\n`
        : `The request for the account ${account} was turned down.\n`;
    this.#parts.mailbox.post(tx, {
      to: email,
      subject: subjectLine(displayName, `Account ${account}: ${state}`),
      text,
    });
  }
}

/** Everything that is wrong with it, each by its own name. */
function checkRegistration({ username, account, email, password }: Registration): void {
  const problems: FieldProblem[] = [];
  for (const [field, text] of Object.entries({ username, account })) {
    if (text.trim() === '' || CONTROL.test(text))
      problems.push({ field, message: 'must be a name that is not blank and has no control characters' });
  }
  if (!isMailAddress(email))
    problems.push({ field: 'email', message: 'must be a mail address such as ops@example.org' });
  if (problems.length > 0) throw badParameters(problems);
  checkUsername('username', username);
  checkAccountName('account', account);
  checkPassword(password, username);
}

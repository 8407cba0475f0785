import type { Line } from '@granary/kernel/threads';
import type { AccountState, Directory, Refused, Soon } from '@granary/protocols/objects';
import { Epoch } from '@granary/storage/objects';
import type { AccountLimit, ControllerCalls, MainCalls } from './protocol.ts';
import { countChange } from '../../serving/rate-limits.ts';

const REMEMBERED_MAX = 10_000;

type S3Answer = MainCalls['s3Key']['result'];
type TokenAnswer = MainCalls['token']['result'];
type AccountAnswer = NonNullable<MainCalls['account']['result']>;

interface ThreadDirectoryOptions {
  readonly line: Line<ControllerCalls, MainCalls>;
  readonly epoch: SharedArrayBuffer;
  readonly limits: SharedArrayBuffer;
  readonly now: () => number;
}

/**
 * Users and accounts as one thread knows them: asked once, then remembered until the shared count of changes moves.
 * The main thread moves it before it acknowledges a change, so no request is accepted by what was valid before.
 */
export class ThreadDirectory implements Directory {
  readonly #options: ThreadDirectoryOptions;
  readonly #epoch: Epoch;
  readonly #counters: BigInt64Array;
  readonly #keys = new Map<string, S3Answer>();
  readonly #tokens = new Map<string, TokenAnswer>();
  readonly #accounts = new Map<string, AccountAnswer>();
  readonly #limits = new Map<string, AccountLimit>();
  #seen = 0;

  constructor(options: ThreadDirectoryOptions) {
    this.#options = options;
    this.#epoch = new Epoch(options.epoch);
    this.#counters = new BigInt64Array(options.limits);
  }

  byS3Key(accessKey: string): Soon<S3Answer> {
    this.#dropOutdated();
    return this.#keys.get(accessKey) ?? this.#ask('s3Key', accessKey, this.#keys);
  }

  byToken(token: string): Soon<TokenAnswer> {
    this.#dropOutdated();
    const known = this.#tokens.get(token);
    if (known === undefined) return this.#ask('token', token, this.#tokens);
    return 'caller' in known && known.expiresAt <= this.#options.now() ? { refused: 'expired' } : known;
  }

  signIn(account: string, username: string, password: string, ip: string): Promise<MainCalls['signIn']['result']> {
    return this.#options.line.ask('signIn', { account, username, password, ip });
  }

  async account(idOrName: string): Promise<AccountState | undefined> {
    this.#dropOutdated();
    const known = this.#accounts.get(idOrName);
    if (known !== undefined) return known;
    const seen = this.#seen;
    const answer = await this.#options.line.ask('account', idOrName);
    if (answer === null) return undefined;
    this.#remember(seen, this.#accounts, idOrName, answer);
    this.#remember(seen, this.#limits, answer.id, answer.limit);
    return answer;
  }

  accountsByMail(email: string): Promise<readonly string[]> {
    return this.#options.line.ask('accountsByMail', email);
  }

  notificationSecret(seed: string): Promise<string> {
    return this.#options.line.ask('notificationSecret', seed);
  }

  async setAccountMetadata(account: string, changes: Readonly<Record<string, string | null>>): Promise<void> {
    await this.#options.line.ask('setAccountMetadata', { account, changes });
  }

  /** Whether the account may make a change in this second. An account that this thread does not know yet is not limited. */
  mayChange(account: string, changesPerSecond: number): boolean {
    this.#dropOutdated();
    const limit = this.#limits.get(account);
    const perSecond = limit?.changesPerSecond ?? changesPerSecond;
    if (limit === undefined || perSecond === 0) return true;
    return countChange(this.#counters, limit.slot, perSecond, this.#options.now());
  }

  async #ask<C extends 's3Key' | 'token'>(
    call: C,
    secret: string,
    answers: Map<string, MainCalls[C]['result']>,
  ): Promise<MainCalls[C]['result']> {
    const seen = this.#seen;
    const answer: MainCalls[C]['result'] = await this.#options.line.ask(call, secret);
    // Guesses are not remembered: they would push out those who belong here.
    if (isRefused(answer)) return answer;
    this.#remember(seen, answers, secret, answer);
    this.#remember(seen, this.#limits, answer.caller.account, answer.limit);
    return answer;
  }

  #remember<T>(seen: number, answers: Map<string, T>, key: string, answer: T): void {
    if (seen !== this.#epoch.count) return;
    if (answers.size >= REMEMBERED_MAX) answers.clear();
    answers.set(key, answer);
  }

  #dropOutdated(): void {
    const { count } = this.#epoch;
    if (count === this.#seen) return;
    this.#seen = count;
    for (const answers of [this.#keys, this.#tokens, this.#accounts, this.#limits]) answers.clear();
  }
}

function isRefused(answer: object): answer is Refused {
  return 'refused' in answer;
}

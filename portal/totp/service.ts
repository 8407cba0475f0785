import { randomBytes } from 'node:crypto';
import { fail, GranaryError, SignInAttempts, type Db, type Tx } from '@granary/kernel';
import type { UserId } from '../ids.ts';
import type { Tools } from '../tools.ts';
import type { User } from '../users/user.ts';
import { base32, newTotpSecret, otpauthUri, stepOfCode } from './code.ts';
import { deleteFactor, findFactor, insertFactor, updateFactor } from './repository.ts';
import type { TotpFactor } from './factor.ts';

type Owner = Pick<User, 'id' | 'username'>;

const ISSUER = 'Granary';
const RECOVERY_CODES = 10;
const RECOVERY_CODE_BYTES = 10;
const SIX_DIGITS = /^\d{6}$/;

/**
 * The second factor of users who switched it on: a code of an authenticator app, or one of ten recovery codes. Each is good
 * once: it is used up in the transaction that finds it right. Who guesses codes knows the password already, so failures are
 * counted for the user, wherever they come from.
 */
export class TotpService {
  readonly #tools: Tools;
  readonly #attempts: SignInAttempts;

  constructor(tools: Tools) {
    this.#tools = tools;
    this.#attempts = new SignInAttempts({ clock: tools.clock });
  }

  isOn(db: Db, userId: UserId): boolean {
    return confirmed(db, userId) !== undefined;
  }

  /** Null when it is off. */
  recoveryCodesLeft(userId: UserId): number | null {
    return this.#tools.store.read((db) => confirmed(db, userId)?.recoveryMarks.length ?? null);
  }

  /** Throws unless the code is right; nothing is asked of users who have not switched it on. */
  async accept(user: Owner, code: string | undefined): Promise<void> {
    if (this.recoveryCodesLeft(user.id) === null) return;
    if (code === undefined) throw fail('code_needed', { username: user.username });
    await this.#use(user, code, (tx, factor, change) => updateFactor(tx, user.id, { ...factor, ...change }));
  }

  /** A secret for the app. It is not asked for before a code was confirmed. */
  async start({ id, username }: Owner): Promise<{ secret: string; uri: string }> {
    const { store, vault } = this.#tools;
    const secret = newTotpSecret();
    await store.write((tx) => {
      if (confirmed(tx, id)) throw fail('totp_is_on', { username });
      deleteFactor(tx, id);
      const secretSealed = vault.seal(secret);
      insertFactor(tx, { userId: id, secretSealed, confirmedAt: null, lastStep: 0, recoveryMarks: [] });
    });
    return { secret, uri: otpauthUri(secret, { issuer: ISSUER, account: username }) };
  }

  /** Switches it on; returns the recovery codes, which are kept as marks only. `work` is of the same transaction. */
  async confirm(user: Owner, code: string, work: (tx: Tx) => void): Promise<string[]> {
    const { store, clock } = this.#tools;
    const factor = store.read((db) => findFactor(db, user.id));
    if (!factor) throw fail('totp_not_started');
    if (factor.confirmedAt !== null) throw fail('totp_is_on', { username: user.username });
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    const recoveryMarks = codes.map((one) => this.#mark(user.id, one));
    await this.#use(user, code, (tx, _, change) => {
      updateFactor(tx, user.id, { ...change, confirmedAt: clock.now(), recoveryMarks });
      this.#record(tx, user, 'switched two-factor sign-in on', user.username);
      work(tx);
    });
    return codes;
  }

  async remove(user: Owner, code: string): Promise<void> {
    if (this.recoveryCodesLeft(user.id) === null) throw fail('totp_is_off', { username: user.username });
    await this.#use(user, code, (tx) => {
      deleteFactor(tx, user.id);
      this.#record(tx, user, 'switched two-factor sign-in off', user.username);
    });
  }

  /** By an administrator, for a user who lost the device. */
  removeBy(tx: Tx, user: Owner, actor: string): void {
    if (!confirmed(tx, user.id)) throw fail('totp_is_off', { username: user.username });
    deleteFactor(tx, user.id);
    const title = `Two-factor sign-in of ${user.username} was switched off by ${actor}.`;
    this.#tools.events.record(tx, { severity: 'warning', title, subject: `user:${user.id}`, actor });
  }

  /** Uses the code up together with what it is needed for. */
  async #use(
    user: Owner,
    code: string,
    work: (tx: Tx, factor: TotpFactor, change: Partial<TotpFactor>) => void,
  ): Promise<void> {
    const verify = () =>
      this.#tools.store.write((tx) => {
        const factor = findFactor(tx, user.id);
        const change = factor && this.#changeBy(tx, user, factor, code);
        if (!factor || !change) return undefined;
        work(tx, factor, change);
        return true;
      });
    try {
      await this.#attempts.guard({ username: user.username, ip: `codes of user ${user.id}` }, verify);
    } catch (error) {
      throw error instanceof GranaryError && error.entry === 'invalid_credentials' ? fail('wrong_code') : error;
    }
  }

  /** What a right code changes; undefined when it is wrong. */
  #changeBy(tx: Tx, user: Owner, factor: TotpFactor, code: string): Partial<TotpFactor> | undefined {
    const { vault, clock } = this.#tools;
    const given = code.replace(/[\s-]/g, '').toUpperCase();
    if (SIX_DIGITS.test(given)) {
      const lastStep = stepOfCode(vault.unseal(factor.secretSealed), given, clock.now(), factor.lastStep);
      return lastStep === undefined ? undefined : { lastStep };
    }
    const mark = this.#mark(user.id, given);
    const recoveryMarks = factor.recoveryMarks.filter((one) => one !== mark);
    if (recoveryMarks.length === factor.recoveryMarks.length) return undefined;
    this.#record(tx, user, `used a recovery code; ${recoveryMarks.length} are left`, user.username);
    return { recoveryMarks };
  }

  #mark(userId: UserId, code: string): string {
    return this.#tools.vault.mark(`recovery code ${userId} ${code.replaceAll('-', '')}`);
  }

  #record(tx: Tx, { id, username }: Owner, what: string, actor: string): void {
    const title = `${username} ${what}.`;
    this.#tools.events.record(tx, { severity: 'notice', title, subject: `user:${id}`, actor });
  }
}

function confirmed(db: Db, userId: UserId): TotpFactor | undefined {
  const factor = findFactor(db, userId);
  return factor && factor.confirmedAt !== null ? factor : undefined;
}

/** 80 bits, in groups that people can type. */
function newRecoveryCode(): string {
  return (base32(randomBytes(RECOVERY_CODE_BYTES)).match(/.{4}/g) ?? []).join('-');
}

import { fail, hashPassword, verifyPassword, type Store, type Tx } from '@granary/kernel';
import type { Settings } from '../settings/service.ts';
import type { SealedUser } from './user.ts';
import { addPastPassword, pastPasswords, setPassword } from './repository.ts';

interface PasswordsOptions {
  readonly store: Store;
  readonly settings: () => Settings;
}

const LENGTH_MIN = 8;
/** From here on the length alone is enough. */
const PHRASE_LENGTH = 16;
const CLASSES_MIN = 3;
const classes = [/\p{Ll}/u, /\p{Lu}/u, /\p{Nd}/u, /[^\p{Ll}\p{Lu}\p{Nd}]/u];

/** What every password has to be. */
export function checkPassword(password: string, username: string): void {
  const { length } = Array.from(password);
  if (length < LENGTH_MIN) throw fail('password_too_short', { min: LENGTH_MIN });
  if (password.toLowerCase() === username.toLowerCase()) throw fail('password_is_username');
  if (length >= PHRASE_LENGTH) return;
  if (classes.filter((one) => one.test(password)).length < CLASSES_MIN)
    throw fail('password_too_simple', { length: PHRASE_LENGTH });
}

/** Rules that look at the passwords a user has and had. */
export class Passwords {
  readonly #options: PasswordsOptions;

  constructor(options: PasswordsOptions) {
    this.#options = options;
  }

  /** The hash of a password that the user may choose now. */
  async hashed(user: SealedUser, next: string): Promise<string> {
    checkPassword(next, user.username);
    const { passwordHistory } = this.#options.settings();
    const past = this.#options.store.read((db) => pastPasswords(db, user.number, passwordHistory));
    const known = [user.passwordHash, ...past].filter((hash) => hash !== null);
    // One after the other: each takes a moment of the processor on purpose.
    for (const hash of known) {
      if (!(await verifyPassword(next, hash))) continue;
      throw passwordHistory === 0
        ? fail('password_unchanged')
        : fail('password_used_before', { count: passwordHistory });
    }
    return hashPassword(next);
  }

  replace(tx: Tx, user: SealedUser, hash: string, now: number): void {
    const { passwordHistory } = this.#options.settings();
    if (user.passwordHash !== null) addPastPassword(tx, user.number, user.passwordHash, passwordHistory);
    setPassword(tx, user.number, hash, now);
  }

  /** When the present one expires; null where passwords do not, or there is none yet. */
  expiresAt({ passwordSetAt: setAt }: SealedUser): number | null {
    const { expirePassword, expirePasswordAfterSeconds } = this.#options.settings();
    return expirePassword && setAt !== null ? setAt + expirePasswordAfterSeconds * 1000 : null;
  }
}

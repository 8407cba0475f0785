import { badParameter, fail, fingerprint, GranaryError, type Db, type Vault } from '@granary/kernel';
import type { AccountState, Caller, Directory, Refused } from '@granary/protocols/objects';
import type { Account } from '../accounts/account.ts';
import { findAccount, findAccountNamed, setMetadata } from '../accounts/repository.ts';
import { notificationSecret } from '../notifications/secret.ts';
import type { PeopleTools } from '../tools.ts';
import type { SealedUser } from '../users/user.ts';
import { findUserByS3Key, findUserByToken, listAccountsByMail } from '../users/repository.ts';
import type { SignIns } from '../users/sign-ins.ts';

interface DirectoryParts {
  readonly signIns: SignIns;
  /** Whether addresses may name accounts. */
  readonly accountNames: () => boolean;
}

type Metadata = Readonly<Record<string, string>>;

const METADATA_LENGTH_MAX = 65_536;
const unknown: Refused = { refused: 'unknown' };

/** Errors of sign-in, as the refusals of the data path. */
const refusals: Partial<Record<string, Refused>> = {
  invalid_credentials: unknown,
  too_many_attempts: unknown,
  account_disabled: { refused: 'account-disabled' },
  password_expired: { refused: 'expired' },
};

/** Users and accounts as the data path asks for them: read from the database, secrets open, answers plain. */
export class ArrayDirectory implements Directory {
  readonly #tools: PeopleTools;
  readonly #parts: DirectoryParts;

  constructor(tools: PeopleTools, parts: DirectoryParts) {
    this.#tools = tools;
    this.#parts = parts;
  }

  byS3Key(accessKey: string): { readonly caller: Caller; readonly secret: string } | Refused {
    const { store, vault } = this.#tools;
    const user = store.read((db) => findUserByS3Key(db, accessKey));
    if (!user) return unknown;
    return refusalOf(user) ?? { caller: callerOf(user), secret: vault.unseal(user.s3SecretKeySealed) };
  }

  byToken(token: string): { readonly caller: Caller; readonly expiresAt: number } | Refused {
    const { store, clock } = this.#tools;
    const user = store.read((db) => findUserByToken(db, fingerprint(token)));
    if (!user) return unknown;
    if (user.tokenExpiresAt <= clock.now()) return { refused: 'expired' };
    return refusalOf(user) ?? { caller: callerOf(user), expiresAt: user.tokenExpiresAt };
  }

  async signIn(
    account: string,
    username: string,
    password: string,
    ip: string,
  ): Promise<{ readonly caller: Caller; readonly token: string; readonly expiresAt: number } | Refused> {
    try {
      const user = await this.#parts.signIns.signIn({ account, user: username, password, ip });
      const { accountId, accountName, id, role, token, tokenExpiresAt } = user;
      const caller = { account: accountId, accountName, user: id, username: user.username, role };
      return { caller, token, expiresAt: tokenExpiresAt };
    } catch (error) {
      const refusal = error instanceof GranaryError ? refusals[error.entry] : undefined;
      if (!refusal) throw error;
      return refusal;
    }
  }

  account(idOrName: string): AccountState | undefined {
    const found = this.#tools.store.read((db) => this.#find(db, idOrName));
    if (!found || found.state === 'deleted') return undefined;
    return {
      id: found.id,
      name: found.name,
      enabled: found.enabled && found.state === 'normal',
      createdAt: found.createdAt,
      metadata: metadataOf(found, this.#tools.vault),
    };
  }

  accountsByMail(email: string): readonly string[] {
    return this.#tools.store.read((db) => listAccountsByMail(db, email));
  }

  notificationSecret(seed: string): string {
    return notificationSecret(this.#tools.vault, seed);
  }

  /** Changes a second that the account has of its own: 0 for no limit, null where the array's holds. */
  ownLimit(account: string): number | null {
    return this.#tools.store.read((db) => findAccount(db, account))?.rateLimit ?? null;
  }

  async setAccountMetadata(account: string, changes: Readonly<Record<string, string | null>>): Promise<void> {
    const { store, vault, clock, changed } = this.#tools;
    await store.write((tx) => {
      const known = findAccount(tx, account);
      if (known?.state !== 'normal') throw fail('account_not_found', { id: account });
      const entries = Object.entries({ ...metadataOf(known, vault), ...changes }).filter(([, value]) => value !== null);
      const text = JSON.stringify(Object.fromEntries(entries));
      if (text.length > METADATA_LENGTH_MAX)
        throw badParameter('metadata', `must have at most ${METADATA_LENGTH_MAX} characters in all`);
      setMetadata(tx, account, entries.length === 0 ? null : vault.seal(text), clock.now());
      tx.afterCommit(changed);
    });
  }

  #find(db: Db, idOrName: string): Account | undefined {
    return findAccount(db, idOrName) ?? (this.#parts.accountNames() ? findAccountNamed(db, idOrName) : undefined);
  }
}

function refusalOf({ accountEnabled: enabled, locked }: SealedUser): Refused | undefined {
  if (!enabled) return { refused: 'account-disabled' };
  return locked ? { refused: 'user-disabled' } : undefined;
}

function callerOf(user: SealedUser): Caller {
  return {
    account: user.accountId,
    accountName: user.accountName,
    user: user.id,
    username: user.username,
    role: user.role,
  };
}

function metadataOf({ metadataSealed: metadata }: Account, vault: Vault): Metadata {
  return metadata === null ? {} : (JSON.parse(vault.unseal(metadata)) as Metadata);
}

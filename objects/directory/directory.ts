import { badParameter, fail, fingerprint, GranaryError, type Db, type Vault } from '@granary/kernel';
import type { AccountState, Caller, Directory, Refused } from '@granary/protocols/objects';
import { findAccount, findAccountNamed, setMetadata, type AccountRow } from '../accounts/repository.ts';
import type { PeopleTools } from '../people-tools.ts';
import { findUserByS3Key, findUserByToken, type UserRow } from '../users/repository.ts';
import type { SignIns } from '../users/sign-ins.ts';

interface DirectoryParts {
  readonly signIns: SignIns;
  /** Whether addresses may name accounts. */
  readonly accountNames: () => boolean;
}

type Metadata = Readonly<Record<string, string>>;

const METADATA_LENGTH_MAX = 65_536;
const unknown: Refused = { refused: 'unknown' };

/** The catalogue's words for what the data path tells its callers in its own. */
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
    const row = store.read((db) => findUserByS3Key(db, accessKey));
    if (!row) return unknown;
    return refusalOf(row) ?? { caller: callerOf(row), secret: vault.unseal(row.s3_secret_key) };
  }

  byToken(token: string): { readonly caller: Caller; readonly expiresAt: number } | Refused {
    const { store, clock } = this.#tools;
    const row = store.read((db) => findUserByToken(db, fingerprint(token)));
    if (!row) return unknown;
    if (row.token_expires_at <= clock.now()) return { refused: 'expired' };
    return refusalOf(row) ?? { caller: callerOf(row), expiresAt: row.token_expires_at };
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
    const row = this.#tools.store.read((db) => this.#find(db, idOrName));
    if (!row || row.state === 'deleted') return undefined;
    return {
      id: row.id,
      name: row.name,
      enabled: row.enabled === 1 && row.state === 'normal',
      createdAt: row.created_at,
      metadata: metadataOf(row, this.#tools.vault),
    };
  }

  /** Changes a second that the account has of its own: 0 for no limit, null where the array's holds. */
  ownLimit(account: string): number | null {
    return this.#tools.store.read((db) => findAccount(db, account))?.rate_limit ?? null;
  }

  async setAccountMetadata(account: string, changes: Readonly<Record<string, string | null>>): Promise<void> {
    const { store, vault, clock, changed } = this.#tools;
    await store.write((tx) => {
      const row = findAccount(tx, account);
      if (row?.state !== 'normal') throw fail('account_not_found', { id: account });
      const entries = Object.entries({ ...metadataOf(row, vault), ...changes }).filter(([, value]) => value !== null);
      const text = JSON.stringify(Object.fromEntries(entries));
      if (text.length > METADATA_LENGTH_MAX)
        throw badParameter('metadata', `must have at most ${METADATA_LENGTH_MAX} characters in all`);
      setMetadata(tx, account, entries.length === 0 ? null : vault.seal(text), clock.now());
      tx.afterCommit(changed);
    });
  }

  #find(db: Db, idOrName: string): AccountRow | undefined {
    return findAccount(db, idOrName) ?? (this.#parts.accountNames() ? findAccountNamed(db, idOrName) : undefined);
  }
}

function refusalOf({ account_enabled: enabled, locked }: UserRow): Refused | undefined {
  if (enabled === 0) return { refused: 'account-disabled' };
  return locked === 1 ? { refused: 'user-disabled' } : undefined;
}

function callerOf(row: UserRow): Caller {
  return {
    account: row.account_id,
    accountName: row.account_name,
    user: row.id,
    username: row.username,
    role: row.role,
  };
}

function metadataOf({ metadata }: AccountRow, vault: Vault): Metadata {
  return metadata === null ? {} : (JSON.parse(vault.unseal(metadata)) as Metadata);
}

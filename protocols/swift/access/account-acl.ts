import type { AccountState, Caller } from '../../objects/context.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import { groupsOf, opensTo, type AccountIds } from './acl.ts';

/**
 * X-Account-Access-Control: whom an account is open to beside its administrators, as JSON. `read-only` reads all of it,
 * `read-write` also writes containers and objects, `admin` does whatever its administrators do.
 */

const LEVELS = ['admin', 'read-write', 'read-only'] as const;

export type Level = 'admin' | 'read-write' | 'read-only' | 'none';

/** Under this name among the metadata of the account: no header can have it. */
export const ACCOUNT_ACL = ':access-control';

type Grants = Readonly<Partial<Record<Exclude<Level, 'none'>, readonly string[]>>>;

/** The text as it was put, with the ids of the accounts it names. */
interface Kept {
  readonly text: string;
  readonly grants: Grants;
  readonly accounts: AccountIds;
}

function bad(message: string): SwiftRefusal {
  return new SwiftRefusal(400, `X-Account-Access-Control invalid: ${message}`);
}

/** Reads what a client sets; all that it opens to must be readable. */
export function readAccountAcl(text: string): Grants {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw bad('it is not JSON');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw bad('it must be a JSON object');
  for (const [level, grantees] of Object.entries(json)) {
    if (!LEVELS.some((known) => known === level)) throw bad(`Key ${JSON.stringify(level)} not recognized`);
    if (!Array.isArray(grantees)) throw bad(`Value for key ${JSON.stringify(level)} must be a list`);
    if (!grantees.every((grantee) => typeof grantee === 'string' && !grantee.includes(','))) {
      throw bad(`Elements of ${JSON.stringify(level)} list must be strings without commas`);
    }
  }
  return json;
}

/** As it is kept among the metadata of the account. */
export function storedAccountAcl(text: string, grants: Grants, accounts: AccountIds): string {
  return JSON.stringify({ text, grants, accounts } satisfies Kept);
}

function keptOf({ metadata }: Pick<AccountState, 'metadata'>): Kept | undefined {
  const stored = metadata[ACCOUNT_ACL];
  return stored === undefined ? undefined : (JSON.parse(stored) as Kept);
}

/** As clients see it. */
export function shownAccountAcl(account: Pick<AccountState, 'metadata'>): string | undefined {
  return keptOf(account)?.text;
}

/** What the account's ACL opens to a caller: the most of what names it. */
export function levelOf(account: Pick<AccountState, 'metadata'>, caller: Caller): Level {
  const kept = keptOf(account);
  if (kept === undefined) return 'none';
  const isNamed = (level: Exclude<Level, 'none'>) =>
    opensTo(groupsOf((kept.grants[level] ?? []).join(','), kept.accounts), caller);
  return LEVELS.find(isNamed) ?? 'none';
}

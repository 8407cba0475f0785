import type { AccountState, Caller, DataContext, DataSettings, Refused } from '../../objects/context.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import { unauthorized } from './access.ts';
import { accountNamesOf, type AccountIds } from './acl.ts';

export function refusedBy(refused: Refused['refused'], account: string): SwiftRefusal {
  if (refused === 'account-disabled') return new SwiftRefusal(403, 'The account is disabled.');
  return unauthorized(account);
}

/** Who a token belongs to; null without one. */
export async function callerOf(
  context: DataContext,
  token: string | undefined,
  account: string,
): Promise<Caller | null> {
  if (token === undefined || token === '') return null;
  const found = context.directory.byToken(token);
  const answer = found instanceof Promise ? await found : found;
  if ('refused' in answer) throw refusedBy(answer.refused, account);
  return answer.caller;
}

/** The account of an address; undefined when there is none, or when it is named and addresses may not have names. */
export async function accountOf(
  context: DataContext,
  settings: DataSettings,
  idOrName: string,
): Promise<AccountState | undefined> {
  const found = context.directory.account(idOrName);
  const account = found instanceof Promise ? await found : found;
  return account === undefined || account.id === idOrName || settings.accountNames ? account : undefined;
}

/** No id of an account: an unknown name opens nothing, and is answered like a known one. */
const NOBODY = 'nobody';

/**
 * Ids of the accounts that an ACL names. The caller's own account has its name here; those of others are known where
 * addresses may have them.
 */
export async function namedAccounts(
  context: DataContext,
  settings: DataSettings,
  own: Pick<AccountState, 'id' | 'name'>,
  acl: string,
): Promise<AccountIds> {
  const ids: [name: string, id: string][] = [];
  for (const name of accountNamesOf(acl)) {
    if (name === own.name) ids.push([name, own.id]);
    else if (settings.accountNames) ids.push([name, (await accountOf(context, settings, name))?.id ?? NOBODY]);
  }
  return Object.fromEntries(ids);
}

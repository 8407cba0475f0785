import { badParameter, fail } from '@granary/kernel';
import type { Account } from './account.ts';

const ID = /^[0-9a-f]{32}$/i;

/** Names stand in addresses and before usernames, and must never be taken for an id. */
export function checkAccountName(field: string, name: string): void {
  if (name !== name.trim()) throw badParameter(field, 'must not begin or end with a space');
  if (/[/:]/.test(name)) throw badParameter(field, 'must not have a slash or a colon in it');
  if (ID.test(name)) throw badParameter(field, 'must not look like the id of an account');
}

/** Another's account answers as if there were none. */
export function inScope(account: Account | undefined, id: string, scope: string | null): Account {
  if (!account || (scope !== null && account.id !== scope)) throw fail('account_not_found', { id });
  return account;
}

export function requireNormal({ name, state }: Account): void {
  if (state === 'normal') return;
  throw state === 'deleting' ? fail('account_being_deleted', { name }) : fail('account_deleted', { name });
}

export function refuseSystem({ name, isSystem }: Account, what: string): void {
  if (isSystem) throw fail('system_account', { name, what });
}

import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useIdentity } from '../../app/identity.tsx';
import { ActionButton } from '../../contract/action.tsx';
import { IconPlus } from '../../parts/icons.tsx';
import { HandOver } from './hand-over.tsx';
import { accountChoices, allRoleChoices, roleChoices, type Account } from '../records.ts';

const ABOUT =
  'The code that comes back sets the first password, works once and for a day. Hand it over with the address of this array: the code is used on its sign-in page, “Set a password with a code”.';

/** In an account, or in the one that is chosen. `isFirst`: the account has none yet, who makes the others. */
export function NewUser({ account, isFirst = false }: { readonly account?: Account; readonly isFirst?: boolean }) {
  const me = useIdentity('objects');
  const isOperator = me?.role === 'objs_admin';
  const asksAccount = account === undefined && isOperator;
  const list = useRead(objects.accounts.list, {}, { enabled: asksAccount });
  const accountId = account?.id ?? (isOperator ? undefined : me?.accountId);
  const isSystem = account?.is_system_account === 'True';
  const accountName = (id: unknown) =>
    account?.name ?? (isOperator ? list.data?.accounts.find((one) => one.id === id)?.name : me?.accountName);
  return (
    <ActionButton
      op={objects.users.create}
      label="New user"
      icon={<IconPlus />}
      isMain
      {...(accountId !== undefined && { input: { account_id: accountId } })}
      fields={['username', 'email', ...(accountId === undefined ? ['account_id'] : []), 'role', 'notify_on_events']}
      start={{ role: isFirst ? 'account_admin' : 'member' }}
      labels={{ account_id: 'Account', username: 'User name', email: 'Mail address', notify_on_events: 'Mail events' }}
      choices={{
        ...(asksAccount && { account_id: accountChoices(list.data?.accounts ?? []) }),
        role: asksAccount ? allRoleChoices : roleChoices(isSystem),
      }}
      about={ABOUT}
      showsReply
      besideReply={({ username, account_id: id }) => (
        <HandOver account={accountName(id)} username={typeof username === 'string' ? username : ''} />
      )}
    />
  );
}

import { Badge } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useIdentity } from '../../app/identity.tsx';
import { ActionMenu } from '../../contract/action.tsx';
import { Bulk } from '../../parts/bulk.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { State } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { roleWords } from '../../parts/role.ts';
import { roleOf, type User } from '../records.ts';
import { userActions } from './actions.ts';
import { NewUser } from './new-user.tsx';

const SYSTEM = 'objs_admin';

export default function Users() {
  const reading = useRead(objects.users.list, {});
  const me = useIdentity('objects');
  const isOperator = me?.role === 'objs_admin';
  const about = isOperator
    ? 'Everybody who signs in here, of all accounts.'
    : `Who signs in to the account ${me?.accountName ?? ''}.`;
  const isMe = ({ username, objs_data: { objs_user: of } }: User) =>
    username === me?.username && of.account_id === me.accountId;
  return (
    <>
      <PageHead title="Users and keys" about={about}>
        <NewUser />
      </PageHead>
      <Reading of={reading}>
        {({ users }) => (
          <DataTable
            label="Users"
            rows={users}
            columns={columnsOf(isOperator, isMe)}
            rowKey={({ id }) => String(id)}
            empty={<Empty title="There are no users." action={<NewUser />} />}
            bulk={(rows, clear) => (
              <>
                <Bulk
                  op={objects.users.disable}
                  label="Disable"
                  rows={rows.filter((user) => !user.locked && !isMe(user))}
                  nameOf={({ username }) => username}
                  inputOf={({ id }) => ({ user_id: String(id) })}
                  onDone={clear}
                />
                <Bulk
                  op={objects.users.enable}
                  label="Enable"
                  rows={rows.filter(({ locked }) => locked)}
                  nameOf={({ username }) => username}
                  inputOf={({ id }) => ({ user_id: String(id) })}
                  onDone={clear}
                />
              </>
            )}
          />
        )}
      </Reading>
    </>
  );
}

function columnsOf(isOperator: boolean, isMe: (user: User) => boolean): Column<User>[] {
  const account: Column<User> = {
    name: 'account',
    heading: 'Account',
    value: ({ objs_data: { objs_user: of } }) => of.account_name,
    cell: ({ objs_data: { objs_user: of } }) => (
      <PageLink to={`/accounts/${of.account_id}`}>{of.account_name}</PageLink>
    ),
  };
  return [
    {
      name: 'user',
      heading: 'User',
      value: ({ username }) => username,
      cell: (user) => (
        <>
          <PageLink to={`/users/${user.id}`}>{user.username}</PageLink>{' '}
          {isMe(user) && <Badge variant="default">you</Badge>}
        </>
      ),
    },
    ...(isOperator ? [account] : []),
    {
      name: 'role',
      heading: 'Role',
      isExtra: true,
      value: roleOf,
      cell: (user) => roleWords(roleOf(user)),
    },
    {
      name: 'state',
      heading: 'State',
      value: ({ locked }) => (locked ? 'disabled' : 'active'),
      cell: ({ locked }) => <State of={locked ? 'disabled' : 'active'} />,
    },
    {
      name: 'email',
      heading: 'Mail',
      isExtra: true,
      value: ({ email }) => email,
      cell: ({ email }) => email ?? '–',
    },
    {
      name: 'key',
      heading: 'S3 access key',
      isExtra: true,
      value: ({ objs_data: { objs_user: of } }) => of.s3_access_key,
      cell: ({ objs_data: { objs_user: of } }) => of.s3_access_key ?? 'none',
    },
    {
      name: 'actions',
      heading: '',
      align: 'right',
      cell: (user) => {
        const { account_id: accountId, account_name: accountName } = user.objs_data.objs_user;
        return (
          <ActionMenu
            label={user.username}
            actions={userActions({
              id: String(user.id),
              name: user.username,
              account: accountId,
              role: roleOf(user),
              isEnabled: !user.locked,
              isSystem: accountName === SYSTEM,
            })}
          />
        );
      },
    },
  ];
}

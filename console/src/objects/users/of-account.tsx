import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import type { Reply } from '../../api/operations.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { Empty } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { State, Time } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { roleWords } from '../../parts/role.ts';
import type { Account } from '../records.ts';
import { userActions } from './actions.ts';
import { NewUser } from './new-user.tsx';

type AccountUser = Reply<typeof objects.accounts.listUsers.endpoint>['users'][number];

export function UsersOfAccount({ account }: { readonly account: Account }) {
  const reading = useRead(objects.accounts.listUsers, { account_id: account.id });
  const make =
    account.state === 'normal' ? <NewUser account={account} isFirst={reading.data?.users.length === 0} /> : undefined;
  return (
    <Section title="Users" tools={make}>
      <Reading of={reading}>
        {({ users }) => (
          <DataTable
            label="Users"
            prefix="users-"
            rows={users}
            rowKey={({ id }) => id}
            columns={columnsOf(account)}
            empty={
              make === undefined ? (
                <Empty title="It has no users." />
              ) : (
                <Empty title="Nobody can sign in yet.">
                  Make a user with the role “account administrator”: who has it makes the others.
                </Empty>
              )
            }
          />
        )}
      </Reading>
    </Section>
  );
}

function columnsOf(account: Account): Column<AccountUser>[] {
  return [
    {
      name: 'name',
      heading: 'User',
      value: ({ name }) => name,
      cell: ({ id, name }) => <PageLink to={`/users/${id}`}>{name}</PageLink>,
    },
    {
      name: 'role',
      heading: 'Role',
      value: roleOf,
      cell: (user) => roleWords(roleOf(user)),
    },
    { name: 'state', heading: 'State', value: userState, cell: (user) => <State of={userState(user)} /> },
    {
      name: 'since',
      heading: 'Created',
      isExtra: true,
      value: ({ create_time: at }) => Number(at),
      cell: ({ create_time: at }) => <Time at={at} />,
    },
    {
      name: 'actions',
      heading: '',
      align: 'right',
      cell: (user) => (
        <ActionMenu
          label={user.name}
          actions={userActions({
            id: user.id,
            name: user.name,
            account: account.id,
            role: roleOf(user),
            isEnabled: user.enabled === 'True',
            isSystem: account.is_system_account === 'True',
          })}
        />
      ),
    },
  ];
}

function roleOf({ role_list: [role = 'member'] }: AccountUser): string {
  return role;
}

function userState({ enabled, init_password_changed: hasPassword }: AccountUser): string {
  if (enabled === 'False') return 'disabled';
  return hasPassword === 'True' ? 'active' : 'waiting for a first password';
}

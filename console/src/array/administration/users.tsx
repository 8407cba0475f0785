import { Badge } from '@mantine/core';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { useIdentity } from '../../app/identity.tsx';
import { action } from '../../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../../contract/action.tsx';
import { IconPlus } from '../../parts/icons.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { roleWords } from '../../parts/role.ts';
import { Reading } from '../../parts/reading.tsx';
import { Time } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';

export default function Users() {
  const reading = useRead(array.users.list, {});
  const me = useIdentity('array');
  return (
    <>
      <PageHead
        title="Users"
        about="Who may use the array. A user changes what they created; an administrator changes everything."
      >
        <ActionButton
          op={array.users.create}
          label="New user"
          icon={<IconPlus />}
          isMain
          about="Without a password the array makes one and shows it this once."
          showsReply
        />
      </PageHead>
      <Reading of={reading}>
        {({ users }) => (
          <DataTable
            label="Users"
            rows={users}
            rowKey={({ username }) => username}
            empty={<Empty title="There are no users." />}
            columns={[
              {
                name: 'user',
                heading: 'User',
                cell: ({ username }) => (
                  <>
                    {username} {username === me?.username && <Badge variant="default">you</Badge>}
                  </>
                ),
                value: ({ username }) => username,
              },
              {
                name: 'role',
                heading: 'Role',
                cell: ({ role }) => roleWords(role),
                value: ({ role }) => roleWords(role),
              },
              {
                name: 'email',
                heading: 'Mail',
                isExtra: true,
                cell: ({ email }) => email ?? '–',
                value: ({ email }) => email,
              },
              {
                name: 'since',
                heading: 'Created',
                isExtra: true,
                cell: ({ created_at }) => <Time at={created_at} />,
                value: ({ created_at }) => created_at,
              },
              {
                name: 'actions',
                heading: '',
                align: 'right',
                cell: ({ username: name, email, role }) => (
                  <ActionMenu
                    label={name}
                    actions={[
                      action({
                        op: array.users.update,
                        label: 'Change',
                        input: { name },
                        start: { role, ...(email !== null && { email }) },
                      }),
                      ...(me?.role === 'admin' || me?.username === name
                        ? [
                            action({
                              op: array.users.resetAccessKey,
                              label: 'New access key',
                              input: { name },
                              fields: [],
                              more: [],
                              about: 'The old key stops working at once. The new one is shown this once.',
                              showsReply: true,
                            }),
                          ]
                        : []),
                      action({ op: array.users.delete, label: 'Remove', input: { name }, destroys: name }),
                    ]}
                  />
                ),
              },
            ]}
          />
        )}
      </Reading>
    </>
  );
}

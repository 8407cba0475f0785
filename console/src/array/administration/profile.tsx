import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { useIdentity } from '../../app/identity.tsx';
import { action } from '../../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../../contract/action.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { roleWords } from '../../parts/role.ts';
import { Reading } from '../../parts/reading.tsx';
import { Time } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';

export default function Profile() {
  const me = useIdentity('array');
  const reading = useRead(array.sessions.list, {});
  return (
    <>
      <PageHead title={me?.username ?? 'Profile'} about={me && roleWords(me.role)}>
        <ActionButton op={array.users.changePassword} label="Change the password" />
        {me && (
          <ActionButton
            op={array.users.resetAccessKey}
            label="New access key"
            input={{ name: me.username }}
            fields={[]}
            more={[]}
            about="Programs use it in place of the password. The old one stops working at once."
            showsReply
          />
        )}
      </PageHead>
      <Section title="Where you are signed in">
        <Reading of={reading}>
          {({ sessions }) => (
            <DataTable
              label="Sessions"
              rows={sessions}
              rowKey={({ id }) => String(id)}
              empty={<Empty title="You are signed in by key only." />}
              columns={[
                {
                  name: 'browser',
                  heading: 'Browser',
                  cell: ({ user_agent, current }) => `${current ? 'this one, ' : ''}${user_agent ?? 'unknown'}`,
                  value: ({ user_agent }) => user_agent,
                },
                { name: 'ip', heading: 'From', cell: ({ ip }) => ip, value: ({ ip }) => ip },
                {
                  name: 'seen',
                  heading: 'Last seen',
                  cell: ({ last_seen_at }) => <Time at={last_seen_at} isRelative />,
                },
                { name: 'ends', heading: 'Ends', isExtra: true, cell: ({ expires_at }) => <Time at={expires_at} /> },
                {
                  name: 'actions',
                  heading: '',
                  align: 'right',
                  cell: ({ id, ip }) => (
                    <ActionMenu
                      label={ip}
                      actions={[action({ op: array.sessions.delete, label: 'Sign out', input: { id } })]}
                    />
                  ),
                },
              ]}
            />
          )}
        </Reading>
      </Section>
    </>
  );
}

import { Badge } from '@mantine/core';
import type { Op } from '../api/operations.ts';
import { useRead } from '../api/queries.ts';
import { ActionButton } from '../contract/action.tsx';
import { browserName } from './browser-name.ts';
import { Empty, Failed, Loading } from './messages.tsx';
import { Time } from './small.tsx';
import { DataTable, type Column } from './table.tsx';

interface BrowserSession {
  readonly id: number;
  readonly username: string;
  readonly ip: string;
  readonly user_agent: string | null;
  readonly created_at: string;
  readonly last_seen_at: string;
  readonly current: boolean;
}

/** Browsers that are signed in, each with a way to sign it out; every service has the same. */
export function Sessions({ list, end }: { readonly list: Op; readonly end: Op }) {
  const reading = useRead(list, {});
  if (reading.isPending) return <Loading />;
  if (reading.isError) return <Failed error={reading.error} retry={() => void reading.refetch()} />;
  const { sessions } = reading.data as unknown as { readonly sessions: readonly BrowserSession[] };
  const columns: readonly Column<BrowserSession>[] = [
    {
      name: 'browser',
      heading: 'Browser',
      value: ({ user_agent: agent }) => agent,
      cell: ({ user_agent: agent, current }) => (
        <>
          {current && (
            <Badge variant="light" tt="none">
              this one
            </Badge>
          )}{' '}
          <span title={agent ?? undefined}>{agent === null ? 'unknown' : browserName(agent)}</span>
        </>
      ),
    },
    { name: 'ip', heading: 'From', value: ({ ip }) => ip, cell: ({ ip }) => ip },
    {
      name: 'began',
      heading: 'Signed in',
      value: ({ created_at: at }) => at,
      cell: ({ created_at: at }) => <Time at={at} />,
      isExtra: true,
    },
    {
      name: 'seen',
      heading: 'Last seen',
      value: ({ last_seen_at: at }) => at,
      cell: ({ last_seen_at: at }) => <Time at={at} isRelative />,
    },
    {
      name: 'actions',
      heading: '',
      align: 'right',
      cell: ({ id, current }) =>
        current ? null : (
          <ActionButton op={end} label="Sign out" isSmall input={{ id }} about="That browser is signed out at once." />
        ),
    },
  ];
  return (
    <DataTable
      label="Sessions"
      rows={sessions}
      columns={columns}
      rowKey={({ id }) => String(id)}
      empty={<Empty title="No browser is signed in." />}
      prefix="sessions-"
    />
  );
}

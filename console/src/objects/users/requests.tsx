import { SegmentedControl } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { useAddressText } from '../../app/base.ts';
import { ActionButton } from '../../contract/action.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Time } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import type { AccountRequest } from '../records.ts';

const STATES = ['pending', 'approved', 'denied'] as const;
type RequestState = (typeof STATES)[number];

const columns: readonly Column<AccountRequest>[] = [
  {
    name: 'account',
    heading: 'Account',
    value: ({ arguments: { account } }) => account,
    cell: ({ arguments: { account } }) => account,
  },
  {
    name: 'user',
    heading: 'For',
    value: ({ arguments: { username } }) => username,
    cell: ({ arguments: { username } }) => username,
  },
  {
    name: 'email',
    heading: 'Mail',
    isExtra: true,
    value: ({ arguments: { email } }) => email,
    cell: ({ arguments: { email } }) => email,
  },
  {
    name: 'asked',
    heading: 'Requested',
    value: ({ requested_at: at }) => at,
    cell: ({ requested_at: at }) => <Time at={at} isRelative />,
  },
  {
    name: 'decided',
    heading: 'Decided',
    isExtra: true,
    value: ({ decided_by: by }) => by,
    cell: ({ decided_by: by, decided_at: at }) =>
      by === null ? (
        '–'
      ) : (
        <>
          by {by}, <Time at={at} isRelative />
        </>
      ),
  },
  {
    name: 'actions',
    heading: '',
    align: 'right',
    cell: ({ id, decided_by: by, arguments: { account, username } }) =>
      by === null && (
        <>
          <ActionButton
            op={objects.requests.approve}
            label="Approve"
            isSmall
            isMain
            input={{ id }}
            about={`The account ${account} is made, and ${username} administers it with the password that was chosen.`}
          />{' '}
          <ActionButton op={objects.requests.deny} label="Deny" isSmall input={{ id }} />
        </>
      ),
  },
];

/** Accounts that people asked for. */
export default function Requests() {
  const [text, setText] = useAddressText('shown');
  const state: RequestState = STATES.find((one) => one === text) ?? 'pending';
  const reading = useRead(objects.requests.list, { state });
  return (
    <>
      <PageHead title="Requests" about="Accounts that people asked for. Each comes with its first user.">
        <SegmentedControl
          size="xs"
          aria-label="Which requests"
          data={[...STATES]}
          value={state}
          onChange={(value) => setText(value === 'pending' ? '' : value)}
        />
      </PageHead>
      <Reading of={reading}>
        {({ requests }) => (
          <DataTable
            label="Requests"
            rows={requests}
            columns={columns}
            rowKey={({ id }) => String(id)}
            empty={
              state === 'pending' ? (
                <Empty title="No request is pending.">
                  Anybody may ask for an account with POST /requests; it is decided here.
                </Empty>
              ) : (
                <Empty title="There are no such requests." />
              )
            }
          />
        )}
      </Reading>
    </>
  );
}

import { SegmentedControl, Text } from '@mantine/core';
import type { Reply } from '../api/operations.ts';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { useAddressText } from '../app/base.ts';
import { useSession } from '../app/session.tsx';
import { action, ActionButton, ActionMenu } from '../contract/action.tsx';
import { plain } from '../contract/records.tsx';
import { words } from '../parts/format.ts';
import { Empty, Failed, Loading, PageHead } from '../parts/messages.tsx';
import { State, Time } from '../parts/small.tsx';
import { DataTable, type Column } from '../parts/table.tsx';

type Request = Reply<typeof portal.arrayRequests.list.endpoint>['data'][number];

const columns: readonly Column<Request>[] = [
  { name: 'name', heading: 'Name', value: ({ name }) => name, cell: ({ name }) => name },
  { name: 'kind', heading: 'What', value: ({ kind }) => kind, cell: ({ kind }) => words(kind) },
  { name: 'status', heading: 'State', value: ({ status }) => status, cell: ({ status }) => <State of={status} /> },
  {
    name: 'asked',
    heading: 'Asked',
    value: ({ created_at: at }) => at,
    cell: ({ created_at: at }) => <Time at={at} isRelative />,
  },
  {
    name: 'details',
    heading: 'Details',
    value: ({ arguments: given }) => plain(given),
    cell: ({ arguments: given, reason }) => (
      <Text size="sm" truncate maw={360} title={plain(given)}>
        {reason ?? plain(given)}
      </Text>
    ),
    isExtra: true,
  },
  {
    name: 'decided',
    heading: 'Decided by',
    value: ({ decided_by: by }) => by,
    cell: ({ decided_by: by }) => by ?? '–',
    isExtra: true,
  },
  { name: 'actions', heading: '', align: 'right', cell: (request) => <Decide request={request} /> },
];

/** What waits for an administrator, and what was decided. */
export default function Requests() {
  const [shown, setShown] = useAddressText('shown');
  const status = shown === '' ? 'pending' : shown;
  const list = useRead(portal.arrayRequests.list, status === 'all' ? {} : { status: status as Request['status'] });
  const { role } = useSession();
  const about =
    role === 'admin' ? 'Orders and changes that users ask for.' : 'What you asked for, and what became of it.';
  return (
    <>
      <PageHead title="Requests" about={about}>
        <SegmentedControl
          size="xs"
          aria-label="Which requests"
          value={status}
          onChange={(value) => setShown(value === 'pending' ? '' : value)}
          data={['pending', 'approved', 'denied', 'all']}
        />
      </PageHead>
      {list.isPending && <Loading />}
      {list.isError && <Failed error={list.error} retry={() => void list.refetch()} />}
      {list.data && (
        <DataTable
          label="Requests"
          rows={list.data.data}
          columns={columns}
          rowKey={({ id }) => String(id)}
          empty={
            <Empty title={status === 'pending' ? 'Nothing waits for a decision.' : 'There are no such requests.'} />
          }
        />
      )}
    </>
  );
}

function Decide({ request }: { readonly request: Request }) {
  const { id, name, status } = request;
  if (status !== 'pending') {
    const remove = action({
      op: portal.arrayRequests.delete,
      label: 'Remove',
      input: { id },
      about: 'It leaves the list.',
    });
    return <ActionMenu label={name} actions={[remove]} />;
  }
  return (
    <>
      <ActionButton op={portal.arrayRequests.approve} label="Approve" isSmall isMain input={{ id }} start={{ name }} />{' '}
      <ActionButton op={portal.arrayRequests.deny} label="Deny" isSmall input={{ id }} />
    </>
  );
}

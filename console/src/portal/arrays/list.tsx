import { Anchor, Button, SegmentedControl, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { portal } from '../../api/portal.ts';
import { useRead } from '../../api/queries.ts';
import { useAddressText } from '../../app/base.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { undo } from '../../contract/undo.tsx';
import { Bulk } from '../../parts/bulk.tsx';
import { Empty, Failed, Loading, PageHead } from '../../parts/messages.tsx';
import { State, Time, Working } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { actionsOf } from './actions.ts';
import { useActionFacts } from './facts.ts';
import { OrderButton } from './order-button.tsx';
import { isWaiting, reasonOfDenial, stateWords, type PortalArray } from './record.ts';

const columns: readonly Column<PortalArray>[] = [
  {
    name: 'name',
    heading: 'Name',
    isLong: true,
    value: ({ name }) => name,
    cell: ({ id, name }) => (
      <Anchor component={Link} to={`/arrays/${id}`}>
        {name}
      </Anchor>
    ),
  },
  {
    name: 'state',
    heading: 'State',
    value: stateWords,
    cell: (array) => <Standing array={array} />,
  },
  { name: 'type', heading: 'Type', value: ({ type }) => type, cell: ({ type }) => type, isExtra: true },
  {
    name: 'engine',
    heading: 'Engine',
    value: ({ engine }) => engine?.name,
    cell: ({ engine }) => engine?.name ?? '–',
    isExtra: true,
  },
  {
    name: 'drives',
    heading: 'Drives',
    value: ({ drive_count: n }) => n,
    cell: ({ drive_count: n }) => n,
    align: 'right',
    isExtra: true,
  },
  {
    name: 'provider',
    heading: 'Provider',
    value: ({ provider }) => provider.name,
    cell: ({ provider }) => provider.name,
    isExtra: true,
  },
  {
    name: 'address',
    heading: 'Address',
    value: ({ ip_address: ip }) => ip,
    cell: ({ ip_address: ip }) => ip ?? '–',
    isExtra: true,
  },
  {
    name: 'ordered',
    heading: 'Ordered',
    value: ({ time_created_gmt: at }) => at,
    cell: ({ time_created_gmt: at }) => <Time at={at} />,
    isExtra: true,
  },
];

function Standing({ array }: { readonly array: PortalArray }) {
  const { status, status_message: message, progress } = array;
  // Nothing of an order moves before somebody has decided, and nothing of what failed.
  if (isWaiting(array)) return <State of={stateWords(array)} />;
  if (status === 'failed')
    return (
      <>
        <State of={stateWords(array)} />
        <Text size="xs" className="cell-long">
          {reasonOfDenial(array) ?? message}
        </Text>
      </>
    );
  return progress < 100 ? <Working value={progress} label={message ?? status} /> : <State of={status} />;
}

const deletedColumn: Column<PortalArray> = {
  name: 'until',
  heading: 'Undelete possible until',
  value: ({ undelete_until: until }) => until,
  cell: ({ undelete_until: until }) => <Time at={until} />,
};

export default function Arrays() {
  const [shown, setShown] = useAddressText('shown');
  const isDeleted = shown === 'deleted';
  const factsOf = useActionFacts();
  const actions: Column<PortalArray> = {
    name: 'actions',
    heading: '',
    align: 'right',
    cell: (array) => <ActionMenu label={array.name} actions={actionsOf(array, factsOf(array))} />,
  };
  const list = useRead(portal.arrays.list, isDeleted ? { restorable: true } : {});
  return (
    <>
      <PageHead title="Arrays" about="Block and file arrays, and object storage.">
        <SegmentedControl
          size="xs"
          aria-label="Which arrays"
          value={isDeleted ? 'deleted' : ''}
          onChange={setShown}
          data={[
            { value: '', label: 'Present' },
            { value: 'deleted', label: 'Recycle bin' },
          ]}
        />
        <OrderButton label="Order an array" />
      </PageHead>
      {list.isPending && <Loading />}
      {list.isError && <Failed error={list.error} retry={() => void list.refetch()} />}
      {list.data && (
        <DataTable
          label="Arrays"
          rows={list.data.data}
          columns={[...columns, ...(isDeleted ? [deletedColumn] : []), actions]}
          rowKey={({ id }) => String(id)}
          bulk={(rows, clear) => <ArraysBulk rows={rows} clear={clear} />}
          empty={isDeleted ? <Empty title="The recycle bin is empty." /> : <NoArrays />}
        />
      )}
    </>
  );
}

function ArraysBulk({ rows, clear }: { readonly rows: readonly PortalArray[]; readonly clear: () => void }) {
  const named = ({ name }: PortalArray) => name;
  const input = ({ id }: PortalArray) => ({ array_id: id });
  return (
    <>
      <Bulk
        op={portal.arrays.hibernate}
        label="Hibernate"
        rows={rows.filter(({ status }) => status === 'created')}
        nameOf={named}
        inputOf={input}
        onDone={clear}
      />
      <Bulk
        op={portal.arrays.delete}
        label="Delete"
        rows={rows.filter(({ status }) => status !== 'deleted')}
        nameOf={named}
        inputOf={input}
        isDestroying
        undoOf={(row) =>
          undo({ op: portal.arrays.undelete, input: input(row), said: `${row.name} is being restored.` })
        }
        onDone={clear}
      />
      <Bulk
        op={portal.arrays.undelete}
        label="Undelete"
        rows={rows.filter(({ status }) => status === 'deleted')}
        nameOf={named}
        inputOf={input}
        onDone={clear}
      />
      <Bulk
        op={portal.arrays.restore}
        label="Restore"
        rows={rows.filter(({ status }) => status === 'hibernated')}
        nameOf={named}
        inputOf={input}
        onDone={clear}
      />
    </>
  );
}

function NoArrays() {
  return (
    <Empty
      title="There are no arrays yet."
      action={
        <Button component={Link} to="/arrays/new">
          Order the first one
        </Button>
      }
    >
      An array has drives, pools and volumes of its own. It takes a minute to come up.
    </Empty>
  );
}

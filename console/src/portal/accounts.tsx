import { Anchor } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Reply } from '../api/operations.ts';
import { portal } from '../api/portal.ts';
import { usePlace } from '../api/places.tsx';
import { readOptions, useRead } from '../api/queries.ts';
import { useMay } from '../app/identity.tsx';
import { action, ActionButton, ActionMenu } from '../contract/action.tsx';
import { count, gigabytes } from '../parts/format.ts';
import { IconPlus } from '../parts/icons.tsx';
import { Empty, Failed, Loading, PageHead } from '../parts/messages.tsx';
import { State } from '../parts/small.tsx';
import { DataTable, type Column } from '../parts/table.tsx';
import { manageAddress, type PortalArray } from './arrays/record.ts';

type Account = Reply<typeof portal.objectAccounts.list.endpoint>['data'][number] & { readonly array: PortalArray };

const columns: readonly Column<Account>[] = [
  {
    name: 'name',
    heading: 'Account',
    value: ({ account_name: name }) => name,
    cell: ({ account_name: name, array, status }) =>
      status === 'created' ? (
        <Anchor component={Link} to={manageAddress(array)}>
          {name}
        </Anchor>
      ) : (
        name
      ),
  },
  { name: 'array', heading: 'Array', value: ({ array }) => array.name, cell: ({ array }) => array.name },
  { name: 'status', heading: 'State', value: ({ status }) => status, cell: ({ status }) => <State of={status} /> },
  {
    name: 'used',
    heading: 'Used',
    value: (one) => one.used_capacity,
    cell: (one) => gigabytes(one.used_capacity),
    align: 'right',
  },
  {
    name: 'buckets',
    heading: 'Buckets',
    value: (one) => one.containers_count,
    cell: (one) => count(one.containers_count),
    align: 'right',
    isExtra: true,
  },
  {
    name: 'objects',
    heading: 'Objects',
    value: (one) => one.objects_count,
    cell: (one) => count(one.objects_count),
    align: 'right',
    isExtra: true,
  },
  {
    name: 'actions',
    heading: '',
    align: 'right',
    cell: ({ id, array_id: array, account_name: name }) => (
      <ActionMenu
        label={name}
        actions={[
          action({
            op: portal.objectAccounts.delete,
            label: 'Ask for its removal',
            input: { array_id: array, account_id: id },
            destroys: name,
            about: 'The account goes with all its buckets and objects once the request is carried out.',
          }),
        ]}
      />
    ),
  },
];

/** Accounts of object storage, whatever array they are on. */
export default function Accounts() {
  const arrays = useRead(portal.arrays.list, { status: 'created' });
  if (arrays.isPending) return <Loading />;
  if (arrays.isError) return <Failed error={arrays.error} retry={() => void arrays.refetch()} />;
  const objectArrays = arrays.data.data.filter(({ product }) => product === 'object_storage');
  return <AccountList arrays={objectArrays} />;
}

function AccountList({ arrays }: { readonly arrays: readonly PortalArray[] }) {
  const place = usePlace('portal');
  const may = useMay();
  const users = useRead(portal.users.list, {}, { enabled: may(portal.users.list) });
  const lists = useQueries({
    queries: arrays.map(({ id }) => readOptions(portal.objectAccounts.list, place, { array_id: id })),
  });
  const rows = arrays.flatMap((array, index) => (lists[index]?.data?.data ?? []).map((one) => ({ ...one, array })));
  return (
    <>
      <PageHead title="Accounts" about="Each has buckets, users and keys of its own on an object storage array.">
        <ActionButton
          op={portal.objectAccounts.create}
          label="New account"
          isMain
          icon={<IconPlus />}
          choices={{
            array_id: arrays.map(({ id, name }) => ({ value: String(id), label: name })),
            ...(users.data && {
              user_id: users.data.data.map(({ id, username }) => ({ value: String(id), label: username })),
            }),
          }}
          fields={[
            'array_id',
            'object_storage_account_name',
            'object_storage_admin_username',
            'object_storage_admin_password',
            'user_id',
            'moderate',
          ]}
        />
      </PageHead>
      <DataTable
        label="Accounts"
        rows={rows}
        columns={columns}
        rowKey={({ array_id: array, id }) => `${array}-${id}`}
        empty={
          <Empty title="There are no accounts yet.">
            {arrays.length === 0 ? 'Order an object storage array first.' : 'Make one, and buckets can be filled.'}
          </Empty>
        }
      />
    </>
  );
}

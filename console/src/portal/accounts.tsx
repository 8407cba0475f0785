import { Anchor } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import type { Reply } from '../api/operations.ts';
import { portal } from '../api/portal.ts';
import { usePlace } from '../api/places.tsx';
import { readOptions, useRead } from '../api/queries.ts';
import { useMay } from '../app/identity.tsx';
import { useSession } from '../app/session.tsx';
import { action } from '../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../contract/action.tsx';
import { count, gigabytes } from '../parts/format.ts';
import { IconPlus } from '../parts/icons.tsx';
import { Empty, Failed, Loading, PageHead } from '../parts/messages.tsx';
import { State } from '../parts/small.tsx';
import { DataTable, type Column } from '../parts/table.tsx';
import { OrderButton } from './arrays/order-button.tsx';
import { manageAddress, type PortalArray } from './arrays/record.ts';

type Account = Reply<typeof portal.objectAccounts.list.endpoint>['data'][number] & {
  /** Absent where the account is on the array of somebody else. */
  readonly array: PortalArray | undefined;
};

/** What accounts hold changes without a word to the portal. */
const EVERY_MS = 15_000;
const ARRAYS_LINKED_MAX = 8;

const columns: readonly Column<Account>[] = [
  {
    name: 'name',
    heading: 'Account',
    value: ({ account_name: name }) => name,
    cell: ({ account_name: name, array_id: id, status }) =>
      status === 'created' ? (
        <Anchor component={Link} to={manageAddress({ id, product: 'object_storage' })}>
          {name}
        </Anchor>
      ) : (
        name
      ),
  },
  { name: 'array', heading: 'Array', value: arrayName, cell: arrayName },
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
            label: 'Request deletion',
            input: { array_id: array, account_id: id },
            destroys: name,
            about: 'The account goes with all its buckets and objects once the request is carried out.',
          }),
        ]}
      />
    ),
  },
];

function arrayName({ array }: Account): string {
  return array?.name ?? 'of another owner';
}

/** Accounts of object storage, whatever array they are on. */
export default function Accounts() {
  const arrays = useRead(portal.arrays.list, { status: 'created' });
  const own = useRead(portal.objectAccounts.listAll, {}, { everyMs: EVERY_MS });
  if (arrays.isPending || own.isPending) return <Loading />;
  const failed = [arrays, own].find(({ isError }) => isError);
  if (!arrays.data || !own.data) return <Failed error={failed?.error} retry={() => void failed?.refetch()} />;
  const objectArrays = arrays.data.data.filter(({ product }) => product === 'object_storage');
  return <AccountList arrays={objectArrays} own={own.data.data} />;
}

/** An administrator's own accounts are all there are. Others see theirs, and all on arrays they ordered. */
function useAccounts(arrays: readonly PortalArray[], own: readonly Omit<Account, 'array'>[]) {
  const place = usePlace('portal');
  const { role } = useSession();
  const asked = role === 'admin' ? [] : arrays;
  const lists = useQueries({
    queries: asked.map(({ id }) => ({
      ...readOptions(portal.objectAccounts.list, place, { array_id: id }),
      refetchInterval: EVERY_MS,
    })),
  });
  const all = [...own, ...lists.flatMap(({ data }) => data?.data ?? [])];
  const byId = new Map(all.map((one) => [one.id, { ...one, array: arrays.find(({ id }) => id === one.array_id) }]));
  const rows: Account[] = [...byId.values()];
  return { rows, failed: lists.find(({ isError }) => isError) };
}

function AccountList(props: {
  readonly arrays: readonly PortalArray[];
  readonly own: readonly Omit<Account, 'array'>[];
}) {
  const { arrays } = props;
  const { rows, failed } = useAccounts(arrays, props.own);
  return (
    <>
      <PageHead title="Accounts" about={<AboutAccounts arrays={arrays} />}>
        {arrays.length === 0 ? <OrderButton label="Order an array" /> : <NewAccount arrays={arrays} />}
      </PageHead>
      {failed && <Failed error={failed.error} retry={() => void failed.refetch()} />}
      <DataTable
        label="Accounts"
        rows={rows}
        columns={columns}
        rowKey={({ array_id: array, id }) => `${array}-${id}`}
        empty={
          arrays.length === 0 ? (
            <Empty
              title="There is no object storage array."
              action={<OrderButton label="Order an object storage array" />}
            >
              An account is a part of one. Order it first; accounts are opened once it is up.
            </Empty>
          ) : (
            <Empty title="No account was opened through the portal yet.">
              Open one, and its administrator can make buckets and fill them.
            </Empty>
          )
        }
      />
    </>
  );
}

function NewAccount({ arrays }: { readonly arrays: readonly PortalArray[] }) {
  const may = useMay();
  // Who may not see the others opens it for themselves.
  const choosesUser = may(portal.users.list);
  const users = useRead(portal.users.list, {}, { enabled: choosesUser });
  const { user_id: ownId } = useSession();
  return (
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
      {...(!choosesUser && ownId !== undefined && { input: { user_id: ownId } })}
      start={{
        ...(arrays[0] && { array_id: String(arrays[0].id) }),
        ...(choosesUser && ownId !== undefined && { user_id: String(ownId) }),
      }}
      labels={{
        array_id: 'Array',
        object_storage_account_name: 'Account',
        object_storage_admin_username: 'Its administrator',
        object_storage_admin_password: 'Password of the administrator',
        user_id: 'Belongs to',
        moderate: 'Ask an administrator first',
      }}
      rules={{ object_storage_admin_username: { hint: '' } }}
      said="The account is being made."
      fields={[
        'array_id',
        'object_storage_account_name',
        'object_storage_admin_username',
        'object_storage_admin_password',
        ...(choosesUser || ownId === undefined ? ['user_id'] : []),
        'moderate',
      ]}
    />
  );
}

/** The portal knows the accounts that were opened through it; an array has a page of all of its own. */
function AboutAccounts({ arrays }: { readonly arrays: readonly PortalArray[] }) {
  const about = 'Accounts that were opened through the portal: each has buckets, users and keys of its own.';
  if (arrays.length === 0) return <>{about}</>;
  return (
    <>
      {about} Those that were opened on an array itself are listed there:{' '}
      {arrays.slice(0, ARRAYS_LINKED_MAX).map((array, index) => (
        <Fragment key={array.id}>
          {index > 0 && ', '}
          <Anchor component={Link} to={`${manageAddress(array)}/accounts`} size="sm">
            accounts of {array.name}
          </Anchor>
        </Fragment>
      ))}
      {arrays.length > ARRAYS_LINKED_MAX ? ' and others.' : '.'}
    </>
  );
}

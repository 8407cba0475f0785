import { Badge, Button } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { usePlace } from '../../api/places.tsx';
import { useRead } from '../../api/queries.ts';
import { useGo } from '../../app/base.ts';
import { ActionButton, ActionMenu } from '../../contract/action.tsx';
import { count, gigabytes } from '../../parts/format.ts';
import { Bulk } from '../../parts/bulk.tsx';
import { IconDownload, IconPlus } from '../../parts/icons.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { State, Time } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import type { Account } from '../records.ts';
import { accountActions } from './actions.ts';

const columns: readonly Column<Account>[] = [
  {
    name: 'name',
    heading: 'Account',
    value: ({ name }) => name,
    cell: ({ id, name, is_system_account: isSystem }) => (
      <>
        <PageLink to={`/accounts/${id}`}>{name}</PageLink>{' '}
        {isSystem === 'True' && <Badge variant="default">the array’s own</Badge>}
      </>
    ),
  },
  { name: 'state', heading: 'State', value: accountState, cell: (account) => <State of={accountState(account)} /> },
  {
    name: 'used',
    heading: 'Used',
    align: 'right',
    value: ({ used_capacity: used }) => used,
    cell: ({ used_capacity: used }) => gigabytes(used),
  },
  {
    name: 'objects',
    heading: 'Objects',
    align: 'right',
    isExtra: true,
    value: ({ objects: number }) => number,
    cell: ({ objects: number }) => count(number),
  },
  {
    name: 'buckets',
    heading: 'Buckets',
    align: 'right',
    isExtra: true,
    value: ({ containers }) => containers,
    cell: ({ containers }) => count(containers),
  },
  {
    name: 'description',
    heading: 'Description',
    isExtra: true,
    value: ({ description }) => description,
    cell: ({ description }) => description ?? '–',
  },
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
    cell: (account) => <ActionMenu label={account.name} actions={accountActions(account)} />,
  },
];

export function accountState({ state, enabled }: Account): string {
  return state === 'normal' && enabled === 'False' ? 'disabled' : state;
}

export default function Accounts() {
  const reading = useRead(objects.accounts.list, {});
  return (
    <>
      <PageHead title="Accounts" about="Who keeps data here. An account has buckets, users and a bill of its own.">
        <AccountsFile />
        <NewAccount />
      </PageHead>
      <Reading of={reading}>
        {({ accounts }) => (
          <DataTable
            label="Accounts"
            rows={accounts}
            columns={columns}
            rowKey={({ id }) => id}
            empty={<Empty title="There are no accounts yet." action={<NewAccount />} />}
            bulk={(rows, clear) => (
              <>
                <Bulk
                  op={objects.accounts.disable}
                  label="Disable"
                  rows={rows.filter((one) => one.is_system_account === 'False' && accountState(one) === 'normal')}
                  nameOf={({ name }) => name}
                  inputOf={({ id }) => ({ account_id: id })}
                  onDone={clear}
                />
                <Bulk
                  op={objects.accounts.enable}
                  label="Enable"
                  rows={rows.filter((one) => accountState(one) === 'disabled')}
                  nameOf={({ name }) => name}
                  inputOf={({ id }) => ({ account_id: id })}
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

function NewAccount() {
  const go = useGo();
  return (
    <ActionButton
      op={objects.accounts.create}
      label="New account"
      icon={<IconPlus />}
      isMain
      about="Its first user is made next, on the page of the account."
      onDone={({ value }) => value && go(`/accounts/${value.count}`)}
    />
  );
}

function AccountsFile() {
  const { base } = usePlace('objects');
  return (
    <Button
      component="a"
      href={`${base}/api${objects.accounts.export.endpoint.path}`}
      download="accounts.csv"
      variant="default"
      leftSection={<IconDownload />}
    >
      As CSV
    </Button>
  );
}

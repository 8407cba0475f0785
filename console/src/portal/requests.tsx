import { Anchor, Box, SegmentedControl, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Reply } from '../api/operations.ts';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { useAddressText } from '../app/base.ts';
import { useMay } from '../app/identity.tsx';
import { useSession } from '../app/session.tsx';
import { action } from '../contract/action-props.ts';
import { ActionButton, ActionMenu } from '../contract/action.tsx';
import { Bulk } from '../parts/bulk.tsx';
import { Empty, PageHead } from '../parts/messages.tsx';
import { Reading } from '../parts/reading.tsx';
import { State, Time } from '../parts/small.tsx';
import { DataTable, type Column } from '../parts/table.tsx';
import type { NameOf } from './item-names.ts';
import { askedFor, kindWords } from './request-words.ts';
import { presentPrices } from './prices/history.ts';
import { hasPrice, priceWords } from './request-price.ts';
import { useItemNames } from './use-item-names.ts';

type Request = Reply<typeof portal.arrayRequests.list.endpoint>['data'][number];

const EMPTY: Readonly<Record<string, string>> = {
  pending: 'No request is pending.',
  approved: 'Nothing was approved yet.',
  denied: 'Nothing was denied.',
  all: 'There are no requests yet.',
};

/** What waits for an administrator, and what was decided. */
export default function Requests() {
  const [shown, setShown] = useAddressText('shown');
  const { role } = useSession();
  // Who decides looks for what waits; who asked, for what became of it.
  const first = role === 'admin' ? 'pending' : 'all';
  const status = shown === '' ? first : shown;
  const list = useRead(portal.arrayRequests.list, status === 'all' ? {} : { status: status as Request['status'] });
  const columns = useColumns();
  const about =
    role === 'admin' ? 'Orders and changes that users ask for.' : 'What you asked for, and what became of it.';
  return (
    <>
      <PageHead title="Requests" about={about}>
        <SegmentedControl
          size="xs"
          aria-label="Which requests"
          value={status}
          onChange={(value) => setShown(value === first ? '' : value)}
          data={[
            { value: 'pending', label: 'Waiting' },
            { value: 'approved', label: 'Approved' },
            { value: 'denied', label: 'Denied' },
            { value: 'all', label: 'All' },
          ]}
        />
      </PageHead>
      <Reading of={list}>
        {({ data }) => (
          <DataTable
            label="Requests"
            rows={status === 'pending' ? data : data.toReversed()}
            columns={columns}
            rowKey={({ id }) => String(id)}
            bulk={(rows, clear) =>
              role === 'admin' ? <RequestsBulk rows={rows} clear={clear} /> : <OwnBulk rows={rows} clear={clear} />
            }
            empty={
              <Empty title={EMPTY[status] ?? 'There are no such requests.'}>
                {status === 'pending' &&
                  (role === 'admin'
                    ? 'Orders of users who are not auto-approved come here.'
                    : 'What you order or change stands here until an administrator has decided.')}
              </Empty>
            }
          />
        )}
      </Reading>
    </>
  );
}

interface BulkProps {
  readonly rows: readonly Request[];
  readonly clear: () => void;
}

const nameOf = ({ id, kind, name }: Request) => `${id} (${kindWords(kind)}: ${name})`;

function OwnBulk({ rows, clear }: BulkProps) {
  return (
    <Bulk
      op={portal.arrayRequests.withdraw}
      label="Withdraw"
      rows={rows.filter(({ status }) => status === 'pending')}
      nameOf={nameOf}
      inputOf={({ id }) => ({ id })}
      onDone={clear}
    />
  );
}

function RequestsBulk({ rows, clear }: BulkProps) {
  const waiting = rows.filter(({ status }) => status === 'pending');
  return (
    <>
      <Bulk
        op={portal.arrayRequests.approve}
        label="Approve"
        rows={waiting}
        nameOf={nameOf}
        inputOf={({ id, name }) => ({ id, name })}
        onDone={clear}
      />
      <Bulk
        op={portal.arrayRequests.delete}
        label="Remove"
        rows={rows.filter(({ status }) => status !== 'pending')}
        nameOf={nameOf}
        inputOf={({ id }) => ({ id })}
        onDone={clear}
      />
    </>
  );
}

function useColumns(): readonly Column<Request>[] {
  const may = useMay();
  const nameOf = useItemNames();
  const users = useRead(portal.users.list, {}, { enabled: may(portal.users.list) }).data?.data;
  const asker: Column<Request> = {
    name: 'asker',
    heading: 'Requested by',
    isExtra: true,
    value: ({ user_id: id }) => users?.find((one) => one.id === id)?.username,
    cell: ({ user_id: id }) => users?.find((one) => one.id === id)?.username ?? '–',
  };
  const [what, state, ...others] = columnsWith(nameOf);
  return [what, state, ...(users ? [asker] : []), ...others];
}

type Columns = readonly [Column<Request>, Column<Request>, ...Column<Request>[]];

const columnsWith = (nameOf: NameOf): Columns => [
  {
    name: 'name',
    heading: 'Request',
    isLong: true,
    value: (request) => `${request.id} ${kindWords(request.kind)} ${request.name} ${askedFor(request, nameOf)}`,
    cell: (request) => <Asked request={request} line={askedFor(request, nameOf)} />,
  },
  {
    name: 'status',
    isExtra: true,
    heading: 'State',
    value: ({ status }) => status,
    cell: (request) => <Standing request={request} />,
  },
  {
    name: 'asked',
    heading: 'Requested',
    isExtra: true,
    value: ({ created_at: at }) => at,
    cell: ({ created_at: at }) => <Time at={at} isRelative />,
  },
  {
    name: 'decided',
    heading: 'Decided by',
    value: ({ decided_by: by }) => by,
    cell: ({ decided_by: by, decided_at: at }) =>
      by === null ? (
        '–'
      ) : (
        <>
          {by}, <Time at={at} isRelative />
        </>
      ),
    isExtra: true,
  },
  {
    name: 'actions',
    heading: '',
    align: 'right',
    cell: (request) => <Decide request={request} line={askedFor(request, nameOf)} />,
  },
];

interface RequestProps {
  readonly request: Request;
  /** What was asked for, in words. */
  readonly line: string;
}

function Asked({ request, line }: RequestProps) {
  const { id, kind, name, status, array_id: arrayId } = request;
  const isGone = arrayId === null || (kind === 'create_array' && status === 'denied');
  return (
    <Stack gap={0}>
      <Text size="sm">
        {id}. {kindWords(kind)}:{' '}
        {isGone ? (
          <b>{name}</b>
        ) : (
          <Anchor component={Link} to={`/arrays/${arrayId}`} size="sm">
            {name}
          </Anchor>
        )}
      </Text>
      <Text size="xs" c="dimmed">
        {line}
      </Text>
      {status === 'pending' && <Price request={request} />}
      <Box hiddenFrom="md">
        <Standing request={request} />
      </Box>
    </Stack>
  );
}

/** What it will cost, for who decides and for who asked. */
function Price({ request }: { readonly request: Request }) {
  const { arguments: given, array_id: id } = request;
  const may = useMay();
  const key = typeof given['provider'] === 'string' ? given['provider'] : undefined;
  const isPriced = hasPrice(request) && may(portal.pricing.list);
  // The request to change an array does not say where the array is.
  const array = useRead(
    portal.arrays.get,
    { array_id: id ?? 0 },
    { enabled: isPriced && key === undefined && id !== null },
  );
  const providers = useRead(portal.providers.list, {}, { enabled: isPriced }).data?.data;
  const providerKey = key ?? array.data?.data.provider.key;
  const provider = providers?.find((one) => one.key === providerKey);
  const input = { provider_id: Number(provider?.id ?? 0) };
  const prices = useRead(portal.pricing.list, input, { enabled: isPriced && provider !== undefined }).data?.data;
  const words = prices && priceWords(request, presentPrices(prices));
  return words === undefined ? null : <Text size="xs">{words}</Text>;
}

/** With the reason: why it was denied, or why what was approved waits again. */
function Standing({ request: { status, reason } }: { readonly request: Request }) {
  return (
    <>
      <State of={status === 'pending' ? 'waiting' : status} />
      {reason !== null && (
        <Text size="xs" className="cell-long">
          {reason}
        </Text>
      )}
    </>
  );
}

function Decide({ request, line }: RequestProps) {
  const { id, name, kind, status } = request;
  const { role } = useSession();
  const input = { id };
  if (status !== 'pending') {
    const remove = action({ op: portal.arrayRequests.delete, label: 'Remove', input, about: 'It leaves the list.' });
    return <ActionMenu label={name} actions={[remove]} />;
  }
  if (role !== 'admin') return <Withdraw request={request} line={line} />;
  const what = <Decided request={request} line={line} />;
  return (
    <>
      <ActionButton
        op={portal.arrayRequests.approve}
        label="Approve"
        isSmall
        isMain
        input={kind === 'create_array' ? input : { ...input, name }}
        start={kind === 'create_array' ? { name } : {}}
        labels={{ name: 'Name of the array' }}
        about={what}
        said={`Request ${id} is approved; it is being carried out.`}
      />{' '}
      <ActionButton
        op={portal.arrayRequests.deny}
        label="Deny"
        isSmall
        isFinal
        input={input}
        about={what}
        said={`Request ${id} is denied, with your reason.`}
      />
    </>
  );
}

/** What is approved or denied, in its dialog. */
function Decided({ request, line }: RequestProps) {
  const { id, kind, name } = request;
  return (
    <>
      <Text size="sm">
        Request {id}, {kindWords(kind)}: <b>{name}</b>
        {line === '' ? '' : `, ${line}`}.
      </Text>
      <Price request={request} />
    </>
  );
}

function Withdraw({ request: { id, name, kind }, line }: RequestProps) {
  const isOrder = kind === 'create_array';
  return (
    <ActionButton
      op={portal.arrayRequests.withdraw}
      label="Withdraw"
      isSmall
      isFinal
      input={{ id }}
      about={`${kindWords(kind)} ${name}${line === '' ? '' : `: ${line}`}. ${isOrder ? 'The array is not made.' : 'Nothing is changed.'}`}
      said="Withdrawn; nobody decides about it any more."
    />
  );
}

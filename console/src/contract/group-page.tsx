import type { Api } from '@granary/contract';
import { useMemo } from 'react';
import { findOperation, type AnyInput, type Op } from '../api/operations.ts';
import { useRead } from '../api/queries.ts';
import { useMay } from '../app/identity.tsx';
import { words } from '../parts/format.ts';
import { Empty, Failed, Loading, PageHead } from '../parts/messages.tsx';
import { DataTable, type Column } from '../parts/table.tsx';
import { ActionButton, ActionMenu, type ActionProps } from './action.tsx';
import {
  columnsOf,
  groupOperations,
  idOf,
  inputFor,
  labelOf,
  listIn,
  listPlaceOf,
  recordOperations,
  type AnyRecord,
} from './records.tsx';

interface GroupPageProps {
  readonly api: Api;
  readonly group: string;
  readonly title?: string;
  readonly about?: string;
  /** For lists of what belongs to another record. */
  readonly input?: AnyInput;
  readonly empty?: string;
  /** Tells it apart in the address, where a page has several lists. */
  readonly prefix?: string;
}

/** A group of the contract as a page: its list, and every operation of it. A new endpoint is there without a new page. */
export function GroupPage({ api, group, title, about, input = {}, empty, prefix }: GroupPageProps) {
  const list = findOperation(api, group, 'list');
  const may = useMay();
  const heads = groupOperations(api, group).filter((op) => may(op));
  const name = title ?? words(group);
  return (
    <>
      <PageHead title={name} about={about}>
        {heads.map((op) => (
          <ActionButton
            key={op.id}
            op={op}
            label={labelOfOperation(op)}
            isMain={op.name === 'create'}
            about={op.endpoint.summary}
          />
        ))}
      </PageHead>
      {list && may(list) ? (
        <Records list={list} input={input} label={name} empty={empty} prefix={prefix} />
      ) : (
        <Empty title="There is no list to show here." />
      )}
    </>
  );
}

interface RecordsProps {
  readonly list: Op;
  readonly input?: AnyInput;
  readonly label: string;
  readonly empty?: string | undefined;
  /** In place of the columns that follow from the contract. */
  readonly columns?: readonly Column<AnyRecord>[];
  readonly prefix?: string | undefined;
}

/** A list with the operations of its group at each row. */
export function Records({ list, input = {}, label, empty, columns, prefix }: RecordsProps) {
  const reading = useRead(list, input as never);
  const place = useMemo(() => listPlaceOf(list.endpoint), [list]);
  const derived = useMemo(() => (place ? columnsOf(place.item) : []), [place]);
  const operations = useMemo(() => recordOperations(list.api, list.group), [list]);
  if (!place) return <Empty title="This list has no records of its own." />;
  if (reading.isPending) return <Loading />;
  if (reading.isError) return <Failed error={reading.error} retry={() => void reading.refetch()} />;
  const rows = listIn(reading.data, place);
  const actions: Column<AnyRecord> = {
    name: 'actions',
    heading: '',
    align: 'right',
    cell: (row) => <ActionMenu label={labelOf(row)} actions={operations.map((op) => rowAction(op, row))} />,
  };
  return (
    <DataTable
      label={label}
      prefix={prefix}
      rows={rows}
      columns={[...(columns ?? derived), ...(operations.length > 0 ? [actions] : [])]}
      rowKey={(row) => idOf(list.api, row)}
      empty={<Empty title={empty ?? `There are no ${label.toLowerCase()} yet.`} />}
    />
  );
}

/** An operation on a row. What removes something asks for its name. */
function rowAction(op: Op, row: AnyRecord): ActionProps<never> {
  const destroys = op.endpoint.method === 'DELETE' ? { destroys: labelOf(row) } : {};
  return {
    op: op as Op<never>,
    label: labelOfOperation(op),
    input: inputFor(op, row),
    about: op.endpoint.summary,
    ...destroys,
  };
}

function labelOfOperation({ name }: Op): string {
  return words(name);
}

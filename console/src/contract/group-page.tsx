import type { Api } from '@granary/contract';
import { useMemo, type ReactNode } from 'react';
import { findOperation, type AnyInput, type Op } from '../api/operations.ts';
import { useRead } from '../api/queries.ts';
import { useMay } from '../app/identity.tsx';
import { words } from '../parts/format.ts';
import { Empty, Failed, Loading, PageHead } from '../parts/messages.tsx';
import { DataTable, type Column } from '../parts/table.tsx';
import type { ActionProps } from './action-props.ts';
import { ActionButton, ActionMenu } from './action.tsx';
import type { Choice } from './choice.ts';
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

/** What a page says in its own words; the rest follows from the contract. */
export interface Wording {
  /** What a record is: `user`. */
  readonly one?: string;
  /** The columns in their order, with their headings; without it those that the contract has. */
  readonly headings?: Readonly<Record<string, string>>;
  /** How a field is shown, where its type says too little. */
  readonly cells?: Readonly<Record<string, (row: AnyRecord) => ReactNode>>;
  /** By the operation's name. */
  readonly actions?: Readonly<Record<string, Partial<ActionProps>>>;
  /** By the name of the record's label, as actions start with it: `update` with what is there. */
  readonly startOf?: (row: AnyRecord) => AnyInput;
  /** Whether an operation has a meaning for a row; all have without it. */
  readonly fits?: (operation: string, row: AnyRecord) => boolean;
  /** Fields of forms. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly choices?: Readonly<Record<string, readonly Choice[]>>;
}

interface GroupPageProps {
  readonly wording?: Wording;
  /** What to do where there is nothing yet. */
  readonly next?: string;
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
export function GroupPage(props: GroupPageProps) {
  const { api, group, title, about, input = {}, empty, next, prefix, wording = {} } = props;
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
            label={labelOfOperation(op, wording)}
            isMain={op.name === 'create'}
            about={op.endpoint.summary}
            {...shared(wording)}
            {...wording.actions?.[op.name]}
          />
        ))}
      </PageHead>
      {list && may(list) ? (
        <Records list={list} input={input} label={name} empty={empty} next={next} prefix={prefix} wording={wording} />
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
  readonly next?: string | undefined;
  readonly wording?: Wording;
}

/** A list with the operations of its group at each row. */
export function Records({ list, input = {}, label, empty, next, columns, prefix, wording = {} }: RecordsProps) {
  const reading = useRead(list, input as never);
  const place = useMemo(() => listPlaceOf(list.endpoint), [list]);
  const derived = useMemo(() => (place ? columnsOf(place.item, wording) : []), [place, wording]);
  const operations = useMemo(() => recordOperations(list.api, list.group), [list]);
  if (!place) return <Empty title="This list has no records of its own." />;
  if (reading.isPending) return <Loading />;
  if (reading.isError) return <Failed error={reading.error} retry={() => void reading.refetch()} />;
  const rows = listIn(reading.data, place);
  const actions: Column<AnyRecord> = {
    name: 'actions',
    heading: '',
    align: 'right',
    cell: (row) => {
      const fitting = operations.filter(({ name }) => wording.fits?.(name, row) ?? true);
      return <ActionMenu label={labelOf(row)} actions={fitting.map((op) => rowAction(op, row, wording))} />;
    },
  };
  return (
    <DataTable
      label={label}
      prefix={prefix}
      rows={rows}
      columns={[...(columns ?? derived), ...(operations.length > 0 ? [actions] : [])]}
      rowKey={(row) => idOf(list.api, row)}
      empty={<Empty title={empty ?? `There are no ${lowered(label)} yet.`}>{next}</Empty>}
    />
  );
}

/** An operation on a row. What removes something asks for its name. */
function rowAction(op: Op, row: AnyRecord, wording: Wording): ActionProps<never> {
  const destroys = op.endpoint.method === 'DELETE' ? { destroys: labelOf(row) } : {};
  return {
    op: op as Op<never>,
    label: labelOfOperation(op, wording),
    input: inputFor(op, row),
    about: op.endpoint.summary,
    ...destroys,
    ...shared(wording),
    ...(op.name === 'update' && wording.startOf && { start: wording.startOf(row) }),
    ...wording.actions?.[op.name],
  } as ActionProps<never>;
}

/** `Provider groups` → `provider groups`; `VLANs` stays. */
function lowered(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;
}

function labelOfOperation({ name }: Op, { one }: Wording): string {
  if (name === 'create' && one !== undefined) return `New ${one}`;
  if (name === 'update') return 'Change';
  return words(name);
}

function shared({ labels, choices }: Wording): Pick<ActionProps, 'labels' | 'choices'> {
  return { ...(labels && { labels }), ...(choices && { choices }) };
}

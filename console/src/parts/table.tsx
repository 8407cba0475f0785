import { Checkbox, Group, Table, Text, TextInput } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useMemo, useRef, useState, type ReactNode } from 'react';
import { useAddressText } from '../app/base.ts';
import { arranged, type Arranged } from './arranging.ts';
import { count } from './format.ts';
import { IconSearch } from './icons.tsx';
import { TableRow } from './table-row.tsx';

export interface Column<T> extends Arranged<T> {
  readonly heading: string;
  readonly cell: (row: T) => ReactNode;
  readonly align?: 'right';
  /** Long text: it wraps. */
  readonly isLong?: boolean;
  /** Hidden on narrow screens. */
  readonly isExtra?: boolean;
}

interface DataTableProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly rowKey: (row: T) => string;
  /** What is shown when there are no rows at all. */
  readonly empty: ReactNode;
  /** Shown while rows are selected. */
  readonly bulk?: (rows: readonly T[], clear: () => void) => ReactNode;
  /** Beside the filter. */
  readonly tools?: ReactNode;
  /** Of a few rows within a page: no filter above it. */
  readonly isShort?: boolean;
  /** Distinguishes the tables of one page in the address. */
  readonly prefix?: string;
}

/** What a row of one line takes; each is measured when it comes into view. */
const ROW_PX = 45;
const BEYOND_ROWS = 8;

/** A list of any length: only the rows in view are in the page. Filter and order are kept in the address. */
export function DataTable<T>(props: DataTableProps<T>) {
  const { rows, columns, rowKey, label, prefix = '' } = props;
  const [filter, setFilter] = useAddressText(`${prefix}q`);
  const [sort, setSort] = useAddressText(`${prefix}sort`);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const scroll = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => arranged(rows, columns, filter, sort), [rows, columns, filter, sort]);
  const virtualizer = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: BEYOND_ROWS,
  });
  const chosen = useMemo(() => rows.filter((row) => selected.has(rowKey(row))), [rows, selected, rowKey]);
  const toggle = useCallback((key: string) => setSelected((before) => toggled(before, key)), []);
  const clear = useCallback(() => setSelected(new Set()), []);
  if (rows.length === 0) return <>{props.empty}</>;

  const visible = virtualizer.getVirtualItems();
  const before = visible[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (visible.at(-1)?.end ?? 0);
  const width = columns.length + (props.bulk ? 1 : 0);

  return (
    <>
      {!props.isShort && (
        <Group mb="xs" gap="xs">
          <TextInput
            value={filter}
            onChange={(event) => setFilter(event.currentTarget.value)}
            placeholder="Filter"
            aria-label={`Filter ${label}`}
            leftSection={<IconSearch size={16} />}
            flex={1}
            maw={360}
          />
          <Text size="sm" c="dimmed" role="status">
            {shown.length === rows.length ? count(rows.length) : `${count(shown.length)} of ${count(rows.length)}`}
          </Text>
          {props.tools}
          {chosen.length > 0 && (
            <Group gap="xs">
              <Text size="sm">{count(chosen.length)} selected</Text>
              {props.bulk?.(chosen, clear)}
            </Group>
          )}
        </Group>
      )}
      <div ref={scroll} className="table-scroll" tabIndex={0} role="region" aria-label={label}>
        <Table highlightOnHover aria-rowcount={shown.length + 1} layout="auto">
          <Table.Thead>
            <Table.Tr>
              {props.bulk && (
                <Table.Th w={40}>
                  <Checkbox
                    aria-label="Select all that are shown"
                    checked={chosen.length > 0 && chosen.length === shown.length}
                    indeterminate={chosen.length > 0 && chosen.length < shown.length}
                    onChange={(event) => setSelected(new Set(event.currentTarget.checked ? shown.map(rowKey) : []))}
                  />
                </Table.Th>
              )}
              {columns.map((column) => (
                <Heading key={column.name} column={column} sort={sort} setSort={setSort} />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {before > 0 && <Spacer height={before} width={width} />}
            {visible.map(({ index }) => {
              const row = shown[index] as T;
              const key = rowKey(row);
              return (
                <TableRow
                  key={key}
                  id={key}
                  row={row}
                  index={index}
                  columns={columns as readonly Column<unknown>[]}
                  isSelected={selected.has(key)}
                  toggle={props.bulk && toggle}
                  measure={virtualizer.measureElement}
                />
              );
            })}
            {after > 0 && <Spacer height={after} width={width} />}
          </Table.Tbody>
        </Table>
        {shown.length === 0 && (
          <Text c="dimmed" p="md">
            Nothing matches “{filter}”.
          </Text>
        )}
      </div>
    </>
  );
}

function Heading<T>(props: {
  readonly column: Column<T>;
  readonly sort: string;
  readonly setSort: (sort: string) => void;
}) {
  const { column, sort, setSort } = props;
  const direction = sort === column.name ? 'ascending' : sort === `-${column.name}` ? 'descending' : undefined;
  const next = direction === 'ascending' ? `-${column.name}` : direction === 'descending' ? '' : column.name;
  return (
    <Table.Th
      className={column.name === 'actions' ? 'cell-actions' : undefined}
      ta={column.align}
      aria-sort={direction ?? 'none'}
      visibleFrom={column.isExtra ? 'md' : undefined}
    >
      {column.value ? (
        <button type="button" className="sort-button" onClick={() => setSort(next)}>
          {column.heading}
          {direction === 'ascending' ? ' ↑' : direction === 'descending' ? ' ↓' : ''}
        </button>
      ) : (
        column.heading
      )}
    </Table.Th>
  );
}

/** Stands for the rows that are out of view. */
function Spacer({ height, width }: { readonly height: number; readonly width: number }) {
  return (
    <tr aria-hidden="true">
      <td colSpan={width} style={{ height, padding: 0 }} />
    </tr>
  );
}

function toggled(selected: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(key)) next.add(key);
  return next;
}

import { Checkbox, Group, Table, Text, TextInput } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import { useAddressText } from '../app/base.ts';
import { IconSearch } from './icons.tsx';

export interface Column<T> {
  /** Unique among the columns; also how the address names what the table is sorted by. */
  readonly name: string;
  readonly heading: string;
  readonly cell: (row: T) => ReactNode;
  /** What the column is sorted and filtered by; absent: neither. */
  readonly value?: (row: T) => string | number | null | undefined;
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

const ROW_PX = 40;
const BEYOND_ROWS = 12;

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
  if (rows.length === 0) return <>{props.empty}</>;

  const visible = virtualizer.getVirtualItems();
  const before = visible[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (visible.at(-1)?.end ?? 0);
  const hasLong = columns.some(({ isLong }) => isLong);
  const clear = () => setSelected(new Set());
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
            {shown.length === rows.length ? rows.length : `${shown.length} of ${rows.length}`}
          </Text>
          {props.tools}
          {chosen.length > 0 && (
            <Group gap="xs">
              <Text size="sm">{chosen.length} selected</Text>
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
                <Table.Tr
                  key={key}
                  ref={hasLong ? virtualizer.measureElement : undefined}
                  data-index={index}
                  aria-rowindex={index + 2}
                  data-chosen={selected.has(key) || undefined}
                >
                  {props.bulk && (
                    <Table.Td>
                      <Checkbox
                        aria-label={`Select ${key}`}
                        checked={selected.has(key)}
                        onChange={() => setSelected(toggled(selected, key))}
                      />
                    </Table.Td>
                  )}
                  {columns.map((column) => (
                    <Table.Td
                      key={column.name}
                      ta={column.align}
                      visibleFrom={column.isExtra ? 'md' : undefined}
                      className={cellClass(column)}
                    >
                      {column.cell(row)}
                    </Table.Td>
                  ))}
                </Table.Tr>
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

function cellClass<T>({ name, isLong }: Column<T>): string | undefined {
  if (name === 'actions') return 'cell-actions';
  return isLong ? 'cell-long' : undefined;
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

/** Rows in which every word of the filter stands, in the order asked for. */
function arranged<T>(rows: readonly T[], columns: readonly Column<T>[], filter: string, sort: string): readonly T[] {
  const wanted = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const texts = (row: T) =>
    columns
      .map(({ value }) => String(value?.(row) ?? ''))
      .join('\n')
      .toLowerCase();
  const found = wanted.length === 0 ? rows : rows.filter((row) => matches(texts(row), wanted));
  const { value } = columns.find(({ name }) => name === sort.replace(/^-/, '')) ?? {};
  if (!value) return found;
  const sign = sort.startsWith('-') ? -1 : 1;
  return [...found].sort((a, b) => sign * compare(value(a), value(b)));
}

function matches(text: string, wanted: readonly string[]): boolean {
  return wanted.every((word) => text.includes(word));
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

function compare(a: string | number | null | undefined, b: string | number | null | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return collator.compare(String(a ?? ''), String(b ?? ''));
}

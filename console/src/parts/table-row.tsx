import { Checkbox, Table } from '@mantine/core';
import { memo } from 'react';
import type { Column } from './table.tsx';

interface TableRowProps {
  readonly id: string;
  readonly row: unknown;
  readonly index: number;
  readonly columns: readonly Column<unknown>[];
  readonly isSelected: boolean;
  /** Absent: rows cannot be selected. */
  readonly toggle: ((id: string) => void) | undefined;
  /** Tells the list how high the row is. */
  readonly measure: (row: HTMLTableRowElement | null) => void;
}

/** A row in view. Scrolling draws those that come into view and leaves the others as they are. */
export const TableRow = memo(function TableRow(props: TableRowProps) {
  const { id, row, index, columns, isSelected, toggle, measure } = props;
  return (
    <Table.Tr
      ref={measure}
      data-index={index}
      aria-rowindex={index + 2}
      bg={isSelected ? 'var(--mantine-color-teal-light)' : undefined}
    >
      {toggle && (
        <Table.Td>
          <Checkbox aria-label={`Select ${id}`} checked={isSelected} onChange={() => toggle(id)} />
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
});

function cellClass({ name, isLong }: Column<unknown>): string | undefined {
  if (name === 'actions') return 'cell-actions';
  return isLong ? 'cell-long' : undefined;
}

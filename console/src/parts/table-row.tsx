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

/**
 * A row in view. Scrolling draws those that come into view and leaves the others as they are. Rows and cells are plain
 * elements: a part of the library for each would take half of the time.
 */
export const TableRow = memo(function TableRow(props: TableRowProps) {
  const { id, row, index, columns, isSelected, toggle, measure } = props;
  return (
    <tr
      ref={measure}
      className="row"
      data-index={index}
      data-selected={isSelected || undefined}
      aria-rowindex={index + 2}
    >
      {toggle && (
        <td>
          <input
            type="checkbox"
            className="row-check"
            aria-label={`Select ${id}`}
            checked={isSelected}
            onChange={() => toggle(id)}
          />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.name} className={cellClass(column)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
});

function cellClass({ name, align, isLong, isExtra }: Column<unknown>): string | undefined {
  const classes = [
    name === 'actions' && 'cell-actions',
    isLong && 'cell-long',
    align === 'right' && 'cell-right',
    isExtra && 'mantine-visible-from-md',
  ];
  return classes.filter(Boolean).join(' ') || undefined;
}

import type { ReactNode } from 'react';
import { array } from '../../api/array.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { Bulk } from '../../parts/bulk.tsx';
import { gigabytes } from '../../parts/format.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Time } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import type { Snapshot } from '../records.ts';
import { snapshotActions, snapshotWords, takenAt } from './actions.ts';

const columns: readonly Column<Snapshot>[] = [
  {
    name: 'snapshot',
    heading: 'Snapshot',
    cell: ({ display_name }) => display_name,
    value: ({ display_name }) => display_name,
  },
  {
    name: 'taken',
    heading: 'Taken',
    cell: ({ created_at }) => <Time at={created_at} isExact />,
    value: (snapshot) => takenAt(snapshot).getTime(),
  },
  {
    name: 'size',
    heading: 'Size of the volume',
    align: 'right',
    isExtra: true,
    cell: ({ volume_capacity_mb }) => gigabytes(volume_capacity_mb / 1024),
    value: ({ volume_capacity_mb }) => volume_capacity_mb,
  },
];

const volumeColumn: Column<Snapshot> = {
  name: 'volume',
  heading: 'Volume',
  cell: ({ volume_ext_name, volume_display_name }) => (
    <PageLink to={`/volumes/${volume_ext_name}`}>{volume_display_name}</PageLink>
  ),
  value: ({ volume_display_name }) => volume_display_name,
};

export function SnapshotTable(props: {
  readonly rows: readonly Snapshot[];
  readonly empty: ReactNode;
  readonly isAttached: (snapshot: Snapshot) => boolean;
  readonly hasVolume?: boolean;
  readonly prefix?: string;
}) {
  const { rows, empty, isAttached, hasVolume = false, prefix } = props;
  return (
    <DataTable
      label="Snapshots"
      prefix={prefix}
      rows={rows}
      columns={[
        ...columns.slice(0, 1),
        ...(hasVolume ? [volumeColumn] : []),
        ...columns.slice(1),
        {
          name: 'actions',
          heading: '',
          align: 'right',
          cell: (snapshot) => (
            <ActionMenu label={snapshot.display_name} actions={snapshotActions(snapshot, isAttached(snapshot))} />
          ),
        },
      ]}
      rowKey={({ name }) => name}
      empty={empty}
      bulk={(chosen, clear) => (
        <Bulk
          op={array.snapshots.delete}
          label="Delete"
          about="The data of that moment is gone for good. The volumes stay as they are now."
          rows={chosen}
          nameOf={snapshotWords}
          inputOf={({ name }) => ({ snapshot_id: name })}
          isDestroying
          onDone={clear}
        />
      )}
    />
  );
}

import { useMemo } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { Bulk } from '../../parts/bulk.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import type { Drive } from '../records.ts';
import { NewRaidGroup } from '../raid-groups/new-raid-group.tsx';
import { driveActions } from './actions.ts';
import { driveColumns } from './columns.tsx';

export default function Drives() {
  const drives = useRead(array.drives.list, {});
  return (
    <>
      <PageHead title="Drives" about="What the array keeps its bytes on. Free drives become RAID groups or spares.">
        <NewRaidGroup />
      </PageHead>
      <Reading of={drives}>{({ disks }) => <DriveTable drives={disks} />}</Reading>
    </>
  );
}

function DriveTable({ drives }: { readonly drives: readonly Drive[] }) {
  const { data } = useRead(array.raidGroups.list, {});
  const columns = useMemo(() => {
    const names = new Map(data?.raid_groups.map((group) => [group.name, group.display_name]));
    const free = drives.filter(({ status }) => status === 'Available');
    const actions: Column<Drive> = {
      name: 'actions',
      heading: '',
      align: 'right',
      cell: (drive) => <ActionMenu label={drive.display_name} actions={driveActions(drive, free)} />,
    };
    return [...driveColumns(names), actions];
  }, [data, drives]);
  return (
    <DataTable
      label="Drives"
      rows={drives}
      columns={columns}
      rowKey={({ name }) => name}
      empty={<Empty title="The array has no drives.">Order some at the portal: Arrays, Add drives.</Empty>}
      bulk={(chosen, clear) => {
        const free = chosen.filter(({ usage }) => usage === 'Available');
        return (
          <>
            <Bulk
              op={array.drives.shred}
              label="Shred"
              about="The whole drives are overwritten. What was on them is gone for good."
              rows={free}
              nameOf={({ display_name }) => display_name}
              inputOf={({ name: id }) => ({ id })}
              isDestroying
              onDone={clear}
            />
            <Bulk
              op={array.drives.remove}
              label="Return to the cloud"
              about="The array has fewer drives, and they are no longer on the bill."
              rows={free}
              nameOf={({ display_name }) => display_name}
              inputOf={({ name: id }) => ({ id })}
              isDestroying
              onDone={clear}
            />
          </>
        );
      }}
    />
  );
}

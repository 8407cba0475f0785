import { useMemo } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { Bulk } from '../../parts/bulk.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { NewPool } from '../pools/new-pool.tsx';
import type { RaidGroup } from '../records.ts';
import { drivesFor, groupActions } from './actions.ts';
import { groupColumns } from './columns.tsx';
import { NewRaidGroup } from './new-raid-group.tsx';

export default function RaidGroups() {
  const reading = useRead(array.raidGroups.list, {});
  const { data } = useRead(array.drives.list, {});
  const columns = useMemo(() => {
    const drives = data?.disks ?? [];
    const actions: Column<RaidGroup> = {
      name: 'actions',
      heading: '',
      align: 'right',
      cell: (group) => (
        <ActionMenu label={group.display_name} actions={groupActions(group, drivesFor(group, drives))} />
      ),
    };
    return [...groupColumns, actions];
  }, [data]);
  return (
    <>
      <PageHead title="RAID groups" about="Drives that protect each other. Pools are made of them.">
        <NewPool />
        <NewRaidGroup />
      </PageHead>
      <Reading of={reading}>
        {({ raid_groups: groups }) => (
          <DataTable
            label="RAID groups"
            rows={groups}
            columns={columns}
            rowKey={({ name }) => name}
            empty={
              <Empty title="There are no RAID groups yet." action={<NewRaidGroup />}>
                Choose two or more free drives: the loss of one then loses no data.
              </Empty>
            }
            bulk={(chosen, clear) => (
              <Bulk
                op={array.raidGroups.scrub}
                label="Scrub"
                rows={chosen}
                nameOf={({ display_name }) => display_name}
                inputOf={({ name: id }) => ({ id })}
                onDone={clear}
              />
            )}
          />
        )}
      </Reading>
    </>
  );
}

import { useMemo } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { NewRaidGroup } from '../raid-groups/new-raid-group.tsx';
import type { Pool } from '../records.ts';
import { NewVolume } from '../volumes/new-volume.tsx';
import { poolActions } from './actions.ts';
import { poolColumns } from './columns.tsx';
import { NewPool } from './new-pool.tsx';

export default function Pools() {
  const reading = useRead(array.pools.list, {});
  const groups = useRead(array.raidGroups.list, {}).data?.raid_groups;
  const columns = useMemo(() => {
    const actions: Column<Pool> = {
      name: 'actions',
      heading: '',
      align: 'right',
      cell: (pool) => <ActionMenu label={pool.display_name} actions={poolActions(pool, groups ?? [])} />,
    };
    return [...poolColumns, actions];
  }, [groups]);
  return (
    <>
      <PageHead title="Pools" about="The space that volumes and shares are cut from.">
        <NewVolume />
        <NewPool />
      </PageHead>
      <Reading of={reading}>
        {({ pools }) => (
          <DataTable
            label="Pools"
            rows={pools}
            columns={columns}
            rowKey={({ name }) => name}
            empty={<NoPools hasGroups={groups !== undefined && groups.length > 0} />}
          />
        )}
      </Reading>
    </>
  );
}

function NoPools({ hasGroups }: { readonly hasGroups: boolean }) {
  if (hasGroups) return <Empty title="There are no pools yet." action={<NewPool />} />;
  return (
    <Empty title="There are no pools yet." action={<NewRaidGroup />}>
      A pool is made of RAID groups, and a RAID group of drives. Begin with a RAID group.
    </Empty>
  );
}

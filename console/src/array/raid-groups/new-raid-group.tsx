import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { useGo } from '../../app/base.ts';
import { ActionButton } from '../../contract/action.tsx';
import { IconPlus } from '../../parts/icons.tsx';
import { driveChoices } from '../drives/actions.ts';

/** Offers the free drives; four or more are proposed as RAID6, fewer as RAID1. */
export function NewRaidGroup() {
  const go = useGo();
  const { data } = useRead(array.drives.listFree, {});
  const free = (data?.disks ?? []).filter(({ status }) => status === 'Available');
  if (free.length < 2) return null;
  return (
    <ActionButton
      op={array.raidGroups.create}
      label="New RAID group"
      icon={<IconPlus />}
      isMain
      fields={['display_name', 'protection', 'disk', 'hot_spare']}
      labels={{ display_name: 'Name', disk: 'Drives', hot_spare: 'Hot spare' }}
      start={{ protection: 'RAID1', disk: free.slice(0, 2).map(({ name }) => name) }}
      choices={{ disk: driveChoices(free) }}
      about="RAID1 keeps a copy of everything on each of its drives. RAID6 survives the loss of any two."
      said="The RAID group is there. Next, make a pool of it."
      onDone={({ value }) => value && go(`/raid-groups/${value.raidgroup_name}`)}
    />
  );
}

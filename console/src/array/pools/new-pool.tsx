import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { useGo } from '../../app/base.ts';
import { ActionButton } from '../../contract/action.tsx';
import { IconPlus } from '../../parts/icons.tsx';
import { gigabytes } from '../../parts/format.ts';
import { choicesOf } from '../records.ts';

/** Offers the RAID groups that have room. */
export function NewPool({ groups }: { readonly groups?: readonly string[] }) {
  const go = useGo();
  const { data } = useRead(array.raidGroups.list, {});
  const free = (data?.raid_groups ?? []).filter(({ available }) => available > 0);
  if (free.length === 0) return null;
  const unused = free.filter(({ available, capacity }) => available === capacity);
  return (
    <ActionButton
      op={array.pools.create}
      label="New pool"
      icon={<IconPlus />}
      isMain
      fields={['display_name', 'raid_groups', 'pooltype', 'cache']}
      labels={{ display_name: 'Name', raid_groups: 'RAID groups', pooltype: 'Tuned for', cowcache: 'Cache of clones' }}
      start={{ raid_groups: groups ?? unused.map(({ name }) => name) }}
      choices={{
        raid_groups: choicesOf(free, ({ available, protection }) => `${gigabytes(available)} free, ${protection}`),
      }}
      about="A pool is the space that volumes and shares are cut from."
      said="The pool is there. Next, create a volume in it."
      onDone={({ value }) => value && go(`/pools/${value.pool_name}`)}
    />
  );
}

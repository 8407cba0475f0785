import { array } from '../../api/array.ts';
import { action, type ActionProps } from '../../contract/action-props.ts';
import { gigabytes } from '../../parts/format.ts';
import { choicesOf, namesIn, type Pool, type RaidGroup } from '../records.ts';

export function poolActions(pool: Pool, groups: readonly RaidGroup[]): ActionProps<never>[] {
  const input = { id: pool.name };
  const isOn = pool.cache === 'YES';
  return [
    expand(pool, groups),
    shrink(pool, groups),
    action({
      op: array.pools.updateProtection,
      label: 'Thresholds',
      input,
      start: {
        capacityhistory: pool.capacity_history,
        alertmode: pool.alert_mode,
        protectedmode: pool.protected_mode,
        emergencymode: pool.emergency_mode,
      },
      fields: ['capacityhistory', 'alertmode', 'protectedmode', 'emergencymode'],
      labels: {
        capacityhistory: 'Rate is taken over, minutes',
        alertmode: 'Alert, minutes before the pool is full',
        protectedmode: 'Protected mode, minutes before the pool is full',
        emergencymode: 'Emergency mode, GiB left',
      },
    }),
    action({
      op: array.pools.toggleCache,
      label: isOn ? 'Turn the cache off' : 'Turn the cache on',
      input: { ...input, command: isOn ? 'disable' : 'enable' },
      fields: isOn ? [] : ['cowcache'],
      more: [],
    }),
    action({
      op: array.pools.setCowCache,
      label: 'Cache of snapshots and clones',
      input,
      start: { cowcache: pool.cow_cache === 'YES' },
    }),
    action({ op: array.pools.rename, label: 'Rename', input, start: { new_name: pool.display_name } }),
    action({
      op: array.pools.delete,
      takesAway: true,
      label: 'Delete',
      input,
      destroys: pool.display_name,
      fields: ['force'],
      about: 'Only a pool without volumes is deleted; a damaged one is by force, with what is left in it.',
    }),
  ];
}

function expand({ name: id, display_name: name }: Pool, groups: readonly RaidGroup[]): ActionProps<never> {
  const free = groups.filter(({ available }) => available > 0);
  return action({
    op: array.pools.expand,
    label: 'Expand',
    input: { id },
    fields: ['raid_groups', 'capacity'],
    labels: { raid_groups: 'RAID groups', capacity: 'Capacity to add' },
    choices: { raid_groups: choicesOf(free, ({ available }) => `${gigabytes(available)} free`) },
    about: free.length === 0 ? 'No RAID group has room. Make one of free drives first.' : undefined,
    said: `${name} is larger.`,
  });
}

function shrink(pool: Pool, groups: readonly RaidGroup[]): ActionProps<never> {
  const input = { id: pool.name };
  if (pool.status.startsWith('shrinking'))
    return action({ op: array.pools.cancelShrink, label: 'Stop shrinking', input });
  const own = groups.filter(({ name }) => namesIn(pool.raid_group_name).includes(name));
  return action({
    op: array.pools.shrink,
    label: 'Shrink',
    input,
    fields: ['raid_group'],
    labels: { raid_group: 'RAID group to remove' },
    choices: { raid_group: choicesOf(own, ({ capacity }) => gigabytes(capacity)) },
    about: 'Its data is moved to the other RAID groups of the pool while servers work on.',
    said: 'The pool is being shrunk.',
  });
}

import { gigabytes } from '../../parts/format.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Fill, State } from '../../parts/small.tsx';
import type { Column } from '../../parts/table.tsx';
import { StateOrWork } from '../drives/columns.tsx';
import { namesIn, poolUsed, type Pool } from '../records.ts';
import { Provisioned } from './provisioned.tsx';

export const poolColumns: readonly Column<Pool>[] = [
  {
    name: 'pool',
    heading: 'Pool',
    cell: ({ name, display_name }) => <PageLink to={`/pools/${name}`}>{display_name}</PageLink>,
    value: ({ display_name }) => display_name,
  },
  { name: 'state', heading: 'State', cell: ({ status }) => <StateOrWork of={status} />, value: ({ status }) => status },
  {
    name: 'used',
    heading: 'Used',
    cell: (pool) => <Fill used={poolUsed(pool)} size={pool.capacity} />,
    value: (pool) => (pool.capacity > 0 ? poolUsed(pool) / pool.capacity : 0),
  },
  {
    name: 'free',
    heading: 'Free',
    align: 'right',
    cell: ({ available_capacity }) => gigabytes(available_capacity),
    value: ({ available_capacity }) => available_capacity,
  },
  {
    name: 'provisioned',
    heading: 'Provisioned',
    isExtra: true,
    cell: (pool) => <Provisioned pool={pool} />,
    value: ({ provisioned_capacity }) => provisioned_capacity,
  },
  {
    name: 'mode',
    heading: 'Capacity state',
    isExtra: true,
    cell: ({ capacity_mode }) => <State of={capacity_mode} />,
    value: ({ capacity_mode }) => capacity_mode,
  },
  {
    name: 'groups',
    heading: 'RAID groups',
    align: 'right',
    isExtra: true,
    cell: ({ raid_group_name }) => namesIn(raid_group_name).length,
    value: ({ raid_group_name }) => namesIn(raid_group_name).length,
  },
];

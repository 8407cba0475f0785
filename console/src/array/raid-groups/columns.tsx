import { gigabytes } from '../../parts/format.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Fill } from '../../parts/small.tsx';
import type { Column } from '../../parts/table.tsx';
import { StateOrWork } from '../drives/columns.tsx';
import type { RaidGroup } from '../records.ts';

export const groupColumns: readonly Column<RaidGroup>[] = [
  {
    name: 'group',
    heading: 'RAID group',
    cell: ({ name, display_name }) => <PageLink to={`/raid-groups/${name}`}>{display_name}</PageLink>,
    value: ({ display_name }) => display_name,
  },
  { name: 'state', heading: 'State', cell: ({ status }) => <StateOrWork of={status} />, value: ({ status }) => status },
  { name: 'protection', heading: 'Protection', cell: protectionOf, value: protectionOf },
  {
    name: 'used',
    heading: 'In pools',
    cell: (group) => <Fill used={group.capacity - group.available} size={group.capacity} mayBeFull />,
    value: ({ capacity, available }) => capacity - available,
  },
  {
    name: 'free',
    heading: 'Free',
    align: 'right',
    isExtra: true,
    cell: ({ available }) => gigabytes(available),
    value: ({ available }) => available,
  },
  {
    name: 'mismatches',
    heading: 'Mismatches',
    align: 'right',
    isExtra: true,
    cell: ({ mismatch_count }) => mismatch_count,
    value: ({ mismatch_count }) => mismatch_count,
  },
];

export function protectionOf({ protection, protection_width: width }: RaidGroup): string {
  return `${protection}, ${width} drives`;
}

import type { ReactNode } from 'react';
import { gigabytes } from '../../parts/format.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { State, Working } from '../../parts/small.tsx';
import type { Column } from '../../parts/table.tsx';
import { progressIn, type Drive } from '../records.ts';

/** A state, with how far its work is where it tells that. */
export function StateOrWork({ of: status }: { readonly of: string }): ReactNode {
  const progress = progressIn(status);
  if (progress === undefined) return <State of={status} />;
  return <Working value={progress} label={status.replace(/\s*\d+\s*%/, '')} />;
}

/** `groupNames`: display names of RAID groups by their identifiers. */
export function driveColumns(groupNames: ReadonlyMap<string, string>): Column<Drive>[] {
  return [
    {
      name: 'drive',
      heading: 'Drive',
      cell: ({ name, display_name }) => <PageLink to={`/drives/${name}`}>{display_name}</PageLink>,
      value: ({ display_name }) => display_name,
    },
    {
      name: 'state',
      heading: 'State',
      cell: ({ status }) => <StateOrWork of={status} />,
      value: ({ status }) => status,
    },
    {
      name: 'group',
      heading: 'RAID group',
      cell: ({ raid_group_name: group }) =>
        group === null ? 'free' : <PageLink to={`/raid-groups/${group}`}>{groupNames.get(group) ?? group}</PageLink>,
      value: ({ raid_group_name: group }) => (group === null ? 'free' : (groupNames.get(group) ?? group)),
    },
    {
      name: 'size',
      heading: 'Size',
      align: 'right',
      cell: ({ capacity }) => gigabytes(capacity),
      value: ({ capacity }) => capacity,
    },
    { name: 'type', heading: 'Type', isExtra: true, cell: driveType, value: driveType },
    {
      name: 'node',
      heading: 'Node',
      isExtra: true,
      cell: ({ storage_node }) => storage_node,
      value: ({ storage_node }) => storage_node,
    },
  ];
}

function driveType({ disk_type, allocation_group }: Drive): string {
  return allocation_group === '' ? disk_type : allocation_group;
}

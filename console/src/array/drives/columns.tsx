import type { ReactNode } from 'react';
import { gigabytes } from '../../parts/format.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { State, Working } from '../../parts/small.tsx';
import type { Column } from '../../parts/table.tsx';
import { isFree, progressIn, type Drive } from '../records.ts';

/** A state, with how far its work is where it tells that. */
export function StateOrWork({ of: status }: { readonly of: string }): ReactNode {
  const progress = progressIn(status);
  if (progress === undefined) return <State of={status} />;
  return <Working value={progress} label={status.replace(/\s*\d+\s*%/, '')} />;
}

/** Of a drive in no RAID group. */
export function freeWords(drive: Drive): string {
  return isFree(drive) ? 'free' : 'none';
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
      cell: (drive) =>
        drive.raid_group_name === null ? (
          freeWords(drive)
        ) : (
          <PageLink to={`/raid-groups/${drive.raid_group_name}`}>
            {groupNames.get(drive.raid_group_name) ?? drive.raid_group_name}
          </PageLink>
        ),
      value: (drive) =>
        drive.raid_group_name === null
          ? freeWords(drive)
          : (groupNames.get(drive.raid_group_name) ?? drive.raid_group_name),
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

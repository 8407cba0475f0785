import { Empty } from '../../parts/messages.tsx';
import { gigabytes } from '../../parts/format.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Fill, State } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import type { Drive } from '../records.ts';

const columns: readonly Column<Drive>[] = [
  {
    name: 'name',
    heading: 'Drive',
    value: ({ display_name: name }) => name,
    cell: ({ name, display_name: title }) => <PageLink to={`/drives/${name}`}>{title}</PageLink>,
  },
  { name: 'state', heading: 'State', value: ({ status }) => status, cell: ({ status }) => <State of={status} /> },
  {
    name: 'fill',
    heading: 'Fill',
    value: ({ used_capacity: used, capacity }) => used / capacity,
    cell: ({ used_capacity: used, capacity }) => <Fill used={used} size={capacity} label={gigabytes(used)} />,
  },
  { name: 'type', heading: 'Type', isExtra: true, value: ({ disk_type: type }) => type, cell: (one) => one.disk_type },
  {
    name: 'policy',
    heading: 'Policy',
    isExtra: true,
    value: ({ storage_policy: policy }) => policy,
    cell: ({ storage_policy: policy }) =>
      policy === null ? '–' : <PageLink to={`/policies/${policy}`}>{policy}</PageLink>,
  },
  {
    name: 'place',
    heading: 'Node and zone',
    isExtra: true,
    value: placeOf,
    cell: placeOf,
  },
  { name: 'vc', heading: 'Controller', isExtra: true, value: ({ vc }) => vc, cell: ({ vc }) => vc ?? '–' },
  {
    name: 'lacking',
    heading: 'Partitions to repair',
    align: 'right',
    isExtra: true,
    value: lacking,
    cell: lacking,
  },
];

function placeOf({ storage_node: node, allocation_zone_display_name: title, allocation_zone: zone }: Drive): string {
  return `${node}, ${title ?? zone}`;
}

function lacking({ partition_count_degraded: degraded, partition_count_critical: critical }: Drive): number {
  return degraded + critical;
}

export function DriveTable({ drives }: { readonly drives: readonly Drive[] }) {
  return (
    <DataTable
      label="Drives"
      prefix="drives-"
      rows={drives}
      columns={columns}
      rowKey={({ name }) => name}
      empty={<Empty title="There are no drives yet.">Drives are added to a storage policy at the portal.</Empty>}
    />
  );
}

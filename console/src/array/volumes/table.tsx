import { useMemo, type ReactNode } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { Bulk } from '../../parts/bulk.tsx';
import { gigabytes } from '../../parts/format.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Fill, State } from '../../parts/small.tsx';
import { DataTable, type Column } from '../../parts/table.tsx';
import { isShare, namesIn } from '../records.ts';
import { attachActions } from '../servers/attach.ts';
import { deletionWords, snapshotName, undoDeletion, volumeActions } from './actions.tsx';
import { useArrayHabits, type ListedVolume } from './all.ts';

const columns: readonly Column<ListedVolume>[] = [
  {
    name: 'volume',
    heading: 'Name',
    cell: ({ name, display_name }) => <PageLink to={`/volumes/${name}`}>{display_name}</PageLink>,
    value: ({ display_name }) => display_name,
  },
  { name: 'kind', heading: 'Kind', isExtra: true, cell: kindOf, value: kindOf },
  { name: 'state', heading: 'State', cell: ({ status }) => <State of={status} />, value: ({ status }) => status },
  {
    name: 'used',
    heading: 'Written',
    cell: ({ allocated_capacity, virtual_capacity }) => <Fill used={allocated_capacity} size={virtual_capacity} />,
    value: ({ allocated_capacity, virtual_capacity }) => allocated_capacity / virtual_capacity,
  },
  {
    name: 'size',
    heading: 'Size',
    align: 'right',
    isExtra: true,
    cell: ({ virtual_capacity }) => gigabytes(virtual_capacity),
    value: ({ virtual_capacity }) => virtual_capacity,
  },
  {
    name: 'pool',
    heading: 'Pool',
    isExtra: true,
    cell: ({ pool_name, pool_display_name }) => <PageLink to={`/pools/${pool_name}`}>{pool_display_name}</PageLink>,
    value: ({ pool_display_name }) => pool_display_name,
  },
];

export function kindOf(volume: Pick<ListedVolume, 'data_type'>): string {
  return isShare(volume) ? 'share' : 'block';
}

/** Volumes and shares with their actions; those of a pool, of a server, or all. */
export function VolumeTable(props: {
  readonly rows: readonly ListedVolume[];
  readonly empty: ReactNode;
  readonly tools?: ReactNode;
  /** Actions of the page beside those of each volume. */
  readonly more?: (volume: ListedVolume) => readonly Parameters<typeof ActionMenu>[0]['actions'][number][];
}) {
  const { rows, empty, tools, more } = props;
  const pools = useRead(array.pools.list, {}).data?.pools;
  const habits = useArrayHabits();
  const servers = useRead(array.servers.list, {}).data?.servers;
  const all = useMemo(() => {
    const names = new Map(servers?.map(({ name, display_name }) => [name, display_name]));
    const attached: Column<ListedVolume> = {
      name: 'servers',
      heading: 'Attached to',
      isExtra: true,
      cell: (volume) => serversOf(volume, names) || 'no server',
      value: (volume) => serversOf(volume, names),
    };
    const actions: Column<ListedVolume> = {
      name: 'actions',
      heading: '',
      align: 'right',
      cell: (volume) => (
        <ActionMenu
          label={volume.display_name}
          actions={[
            ...(more?.(volume) ?? []),
            ...attachActions(volume, servers ?? []),
            ...volumeActions(volume, pools ?? [], habits),
          ]}
        />
      ),
    };
    return [...columns, attached, actions];
  }, [pools, servers, more, habits]);
  return (
    <DataTable
      label="Volumes and shares"
      rows={rows}
      columns={all}
      rowKey={({ name }) => name}
      empty={empty}
      tools={tools}
      bulk={(chosen, clear) => <BulkActions chosen={chosen} clear={clear} hasBin={habits.hasBin} />}
    />
  );
}

function serversOf({ server_ext_names }: ListedVolume, names: ReadonlyMap<string, string>): string {
  return namesIn(server_ext_names)
    .map((name) => names.get(name) ?? name)
    .join(', ');
}

function BulkActions(props: {
  readonly chosen: readonly ListedVolume[];
  readonly clear: () => void;
  readonly hasBin: boolean | undefined;
}) {
  const { chosen, clear, hasBin } = props;
  const nameOf = ({ display_name }: ListedVolume) => display_name;
  return (
    <>
      <Bulk
        op={array.snapshots.create}
        label="Take snapshots"
        rows={chosen}
        nameOf={nameOf}
        inputOf={({ cg_name }) => ({ volume_cg_id: cg_name, display_name: snapshotName(new Date()) })}
        onDone={clear}
      />
      <Bulk
        op={array.volumes.delete}
        label="Delete"
        about={deletionWords(hasBin)}
        rows={chosen}
        nameOf={nameOf}
        inputOf={({ name: id }) => ({ id })}
        undoOf={(volume) => (hasBin === true ? undoDeletion(volume) : undefined)}
        isDestroying
        onDone={clear}
      />
    </>
  );
}

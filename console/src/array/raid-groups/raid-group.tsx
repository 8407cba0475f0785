import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { useParam } from '../../app/base.ts';
import { ActionMenu } from '../../contract/action.tsx';
import { gigabytes } from '../../parts/format.ts';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts, Fill, Time } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';
import { Actions } from '../actions.tsx';
import { driveActions } from '../drives/actions.ts';
import { driveColumns, StateOrWork } from '../drives/columns.tsx';
import { Performance } from '../performance/figures.tsx';
import { NewPool } from '../pools/new-pool.tsx';
import { namesIn, type Drive, type RaidGroup } from '../records.ts';
import { drivesFor, groupActions } from './actions.ts';
import { protectionOf } from './columns.tsx';

export default function RaidGroupPage() {
  const id = useParam('groupId');
  const reading = useRead(array.raidGroups.get, { id });
  const drives = useRead(array.raidGroups.listDrives, { id });
  const free = useRead(array.drives.listFree, {}).data?.disks ?? [];
  return (
    <Reading of={reading}>
      {({ raid_group: group }) => (
        <>
          <PageHead title={group.display_name} about="RAID group">
            {group.available > 0 && <NewPool groups={[group.name]} />}
            <Actions
              of={groupActions(group, drivesFor(group, [...free, ...(drives.data?.disks ?? [])]))}
              goneTo="/raid-groups"
            />
          </PageHead>
          <Section title="Details">
            <GroupFacts group={group} />
          </Section>
          <Section title="Drives">
            <Reading of={drives}>{({ disks }) => <GroupDrives group={group} drives={disks} free={free} />}</Reading>
          </Section>
          <Section title="Performance">
            <Performance op={array.raidGroups.performance} id={id} />
          </Section>
        </>
      )}
    </Reading>
  );
}

function GroupFacts({ group }: { readonly group: RaidGroup }) {
  const pools = useRead(array.pools.list, {}).data?.pools ?? [];
  const using = pools.filter((pool) => namesIn(pool.raid_group_name).includes(group.name));
  return (
    <Facts
      of={[
        ['State', <StateOrWork key="state" of={group.status} />],
        ['Protection', protectionOf(group)],
        ['In pools', <Fill key="fill" used={group.capacity - group.available} size={group.capacity} mayBeFull />],
        [
          'Pools',
          using.length === 0
            ? 'none'
            : using.map((pool) => (
                <div key={pool.name}>
                  <PageLink to={`/pools/${pool.name}`}>{pool.display_name}</PageLink>
                </div>
              )),
        ],
        ['Free', gigabytes(group.available)],
        ['Stripe size', `${group.stripe_size} KiB`],
        ['Flash', group.ssd === 'YES' ? 'yes' : 'no'],
        ['Mismatches in the last scrub', group.mismatch_count],
        [
          'Rebuild speed',
          `${group.resync_speed} MiB/s now; limits: ${group.min_resync_speed} to ${group.max_resync_speed} MiB/s`,
        ],
        ['Identifier', group.name],
        ['Created', <Time key="made" at={group.created_at} />],
      ]}
    />
  );
}

function GroupDrives(props: {
  readonly group: RaidGroup;
  readonly drives: readonly Drive[];
  readonly free: readonly Drive[];
}) {
  const names = new Map([[props.group.name, props.group.display_name]]);
  return (
    <DataTable
      label="Drives of the RAID group"
      rows={props.drives}
      columns={[
        ...driveColumns(names).filter(({ name }) => name !== 'group'),
        {
          name: 'actions',
          heading: '',
          align: 'right',
          cell: (drive) => <ActionMenu label={drive.display_name} actions={driveActions(drive, props.free)} />,
        },
      ]}
      rowKey={({ name }) => name}
      empty={<Empty title="No drive of it is here." />}
    />
  );
}

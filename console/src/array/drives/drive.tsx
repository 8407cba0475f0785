import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { useParam } from '../../app/base.ts';
import { gigabytes } from '../../parts/format.ts';
import { PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts, Time } from '../../parts/small.tsx';
import { Actions } from '../actions.tsx';
import { Performance } from '../performance/figures.tsx';
import { driveActions } from './actions.ts';
import { freeWords, StateOrWork } from './columns.tsx';

export default function DrivePage() {
  const id = useParam('driveId');
  const reading = useRead(array.drives.get, { id });
  const free = useRead(array.drives.listFree, {});
  const groups = useRead(array.raidGroups.list, {}).data?.raid_groups ?? [];
  return (
    <Reading of={reading}>
      {({ disk }) => (
        <>
          <PageHead title={disk.display_name} about="Drive">
            <Actions of={driveActions(disk, free.data?.disks ?? [])} goneTo="/drives" />
          </PageHead>
          <Section title="Details">
            <Facts
              of={[
                ['State', <StateOrWork key="state" of={disk.status} />],
                [
                  'RAID group',
                  disk.raid_group_name === null ? (
                    freeWords(disk)
                  ) : (
                    <PageLink to={`/raid-groups/${disk.raid_group_name}`}>
                      {groups.find(({ name }) => name === disk.raid_group_name)?.display_name ?? disk.raid_group_name}
                    </PageLink>
                  ),
                ],
                ['Size', gigabytes(disk.capacity)],
                ['Type', `${disk.disk_type}, ${disk.allocation_group}`],
                ['Node', disk.storage_node],
                ['Zone', disk.allocation_zone_display_name ?? disk.allocation_zone],
                ['Identifier', disk.name],
                ['UUID', disk.disk_uuid],
                ['Added', <Time key="since" at={disk.created_at} />],
              ]}
            />
          </Section>
          <Section title="Performance">
            <Performance op={array.drives.performance} id={id} />
          </Section>
        </>
      )}
    </Reading>
  );
}

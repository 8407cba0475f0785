import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { useParam } from '../../app/base.ts';
import { gigabytes } from '../../parts/format.ts';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts, Fill, State, Time } from '../../parts/small.tsx';
import { DataTable } from '../../parts/table.tsx';
import { Actions } from '../actions.tsx';
import { StateOrWork } from '../drives/columns.tsx';
import { Performance } from '../performance/figures.tsx';
import { groupColumns } from '../raid-groups/columns.tsx';
import { poolUsed, type Pool } from '../records.ts';
import { NewVolume } from '../volumes/new-volume.tsx';
import { VolumeTable } from '../volumes/table.tsx';
import { useVolumes } from '../volumes/all.ts';
import { poolActions } from './actions.ts';
import { Provisioned } from './provisioned.tsx';
import { RecycleBin } from './recycle-bin.tsx';

export default function PoolPage() {
  const id = useParam('poolId');
  const reading = useRead(array.pools.get, { id });
  const all = useRead(array.raidGroups.list, {}).data?.raid_groups ?? [];
  const groups = useRead(array.pools.listRaidGroups, { id });
  const volumes = useVolumes();
  return (
    <Reading of={reading}>
      {({ pool }) => (
        <>
          <PageHead title={pool.display_name} about="Pool">
            <NewVolume pool={pool.name} />
            <Actions of={poolActions(pool, all)} goneTo="/pools" />
          </PageHead>
          <Section title="Details">
            <PoolFacts pool={pool} />
          </Section>
          <Section title="Volumes and shares">
            <Reading of={volumes}>
              {(rows) => (
                <VolumeTable
                  rows={rows.filter(({ pool_name }) => pool_name === id)}
                  empty={<Empty title="Nothing is in this pool yet." action={<NewVolume pool={pool.name} />} />}
                />
              )}
            </Reading>
          </Section>
          <Section title="RAID groups">
            <Reading of={groups}>
              {({ raid_groups }) => (
                <DataTable
                  label="RAID groups of the pool"
                  prefix="g"
                  rows={raid_groups}
                  columns={groupColumns}
                  rowKey={({ name }) => name}
                  empty={<Empty title="The pool has no RAID groups." />}
                />
              )}
            </Reading>
          </Section>
          <Section title="Performance">
            <Performance op={array.pools.performance} id={id} />
          </Section>
          <RecycleBin pool={id} />
        </>
      )}
    </Reading>
  );
}

function PoolFacts({ pool }: { readonly pool: Pool }) {
  return (
    <Facts
      of={[
        ['State', <StateOrWork key="state" of={pool.status} />],
        ['Used', <Fill key="fill" used={poolUsed(pool)} size={pool.capacity} />],
        ['Capacity state', <State key="mode" of={pool.capacity_mode} />],
        ['Free', gigabytes(pool.available_capacity)],
        ['Provisioned to volumes', <Provisioned key="provisioned" pool={pool} />],
        ['Tuned for', pool.type],
        ['Layout', pool.mode === 'stripe' ? `spread, ${pool.stripe_size} KiB a piece` : 'concatenated RAID groups'],
        ['Cache', pool.cache === 'YES' ? 'on' : 'off'],
        ['Cache of clones', pool.cow_cache === 'YES' ? 'on' : 'off'],
        ['Alert', `${pool.alert_mode} minutes before it is full`],
        ['Protected mode', `${pool.protected_mode} minutes before it is full`],
        ['Emergency mode', `with less than ${gigabytes(pool.emergency_mode)} left`],
        ['Identifier', pool.name],
        ['Created', <Time key="made" at={pool.created_at} />],
      ]}
    />
  );
}

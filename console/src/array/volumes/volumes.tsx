import { SegmentedControl } from '@mantine/core';
import { useMemo } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { useAddressText } from '../../app/base.ts';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { NewPool } from '../pools/new-pool.tsx';
import { NewRaidGroup } from '../raid-groups/new-raid-group.tsx';
import { useVolumes, type ListedVolume } from './all.ts';
import { NewVolume } from './new-volume.tsx';
import { kindOf, VolumeTable } from './table.tsx';

const KINDS = [
  { value: '', label: 'All' },
  { value: 'block', label: 'Block' },
  { value: 'share', label: 'Shares' },
];

export default function Volumes() {
  const reading = useVolumes();
  return (
    <>
      <PageHead title="Volumes and shares" about="Disks for servers over iSCSI, and files over NFS.">
        <NewVolume />
      </PageHead>
      <Reading of={reading}>{(volumes) => <Filtered volumes={volumes} />}</Reading>
    </>
  );
}

function Filtered({ volumes }: { readonly volumes: readonly ListedVolume[] }) {
  const [kind, setKind] = useAddressText('kind');
  const rows = useMemo(
    () => (kind === '' ? volumes : volumes.filter((volume) => kindOf(volume) === kind)),
    [volumes, kind],
  );
  const filter = <SegmentedControl size="xs" data={KINDS} value={kind} onChange={setKind} aria-label="Kind" />;
  if (volumes.length > 0 && rows.length === 0)
    return (
      <>
        {filter}
        <Empty title={kind === 'share' ? 'There are no shares yet.' : 'There are no block volumes yet.'} />
      </>
    );
  return <VolumeTable rows={rows} empty={<NoVolumes />} tools={filter} />;
}

/** The next step on the way to a volume, whichever is missing. */
function NoVolumes() {
  const pools = useRead(array.pools.list, {}).data?.pools ?? [];
  const groups = useRead(array.raidGroups.list, {}).data?.raid_groups ?? [];
  const title = 'There are no volumes or shares yet.';
  if (pools.length > 0) return <Empty title={title} action={<NewVolume />} />;
  if (groups.length > 0)
    return (
      <Empty title={title} action={<NewPool />}>
        They are cut from a pool. Make one of the RAID groups first.
      </Empty>
    );
  return (
    <Empty title={title} action={<NewRaidGroup />}>
      They are cut from a pool, a pool is made of RAID groups, and those of drives. Begin with a RAID group.
    </Empty>
  );
}

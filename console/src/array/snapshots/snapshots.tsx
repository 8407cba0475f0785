import { useMemo } from 'react';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { Empty, PageHead } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { useVolumes } from '../volumes/all.ts';
import { SnapshotTable } from './table.tsx';

export default function Snapshots() {
  const reading = useRead(array.snapshots.list, {});
  const volumes = useVolumes().data;
  const attached = useMemo(
    () => new Set(volumes?.filter(({ server_ext_names }) => server_ext_names !== '').map(({ name }) => name)),
    [volumes],
  );
  return (
    <>
      <PageHead
        title="Snapshots"
        about="What volumes and shares held at a moment. They take room only for what changed since."
      />
      <Reading of={reading}>
        {({ snapshots }) => (
          <SnapshotTable
            rows={snapshots}
            hasVolume
            isAttached={({ volume_ext_name }) => attached.has(volume_ext_name)}
            empty={
              <Empty title="There are no snapshots yet.">
                Take one on the page of a volume, or attach a snapshot policy that takes them by the clock.
              </Empty>
            }
          />
        )}
      </Reading>
    </>
  );
}

import { useQueries } from '@tanstack/react-query';
import { array } from '../../api/array.ts';
import { usePlace } from '../../api/places.tsx';
import { readOptions, useRead } from '../../api/queries.ts';
import { ActionButton } from '../../contract/action.tsx';
import { gigabytes } from '../../parts/format.ts';
import { IconPlus } from '../../parts/icons.tsx';
import { cronWords } from '../snapshots/cron.ts';
import { useVolumes } from '../volumes/all.ts';

/** Offers the pools of all remote arrays. Nothing until one is known. */
export function NewMirror() {
  const place = usePlace('array');
  const remotes = useRead(array.remoteArrays.list, {}).data?.remote_arrays ?? [];
  const policies = useRead(array.snapshotPolicies.list, {}).data?.snapshot_policies ?? [];
  const volumes = useVolumes().data ?? [];
  const answers = useQueries({
    queries: remotes.map(({ name }) => readOptions(array.remoteArrays.listPools, place, { id: name })),
  });
  if (remotes.length === 0) return null;
  const pools = remotes.flatMap((remote, index) =>
    (answers[index]?.data?.remote_pools ?? []).map((pool) => ({
      value: pool.name,
      label: `${pool.display_name} on ${remote.remote_display_name} · ${gigabytes(pool.available_capacity)} free`,
    })),
  );
  return (
    <ActionButton
      op={array.consistencyGroups.mirror}
      label="New mirror"
      icon={<IconPlus />}
      isMain
      fields={['volume_cg_id', 'remote_pool', 'policy', 'display_name', 'new_cg_name']}
      labels={{
        volume_cg_id: 'Volume or share',
        remote_pool: 'To the pool',
        policy: 'Brought up to date by the policy',
        display_name: 'Name of the mirror',
        new_cg_name: 'Name of the copy',
      }}
      choices={{
        volume_cg_id: volumes.map(({ cg_name, display_name }) => ({ value: cg_name, label: display_name })),
        remote_pool: pools,
        policy: policies.map(({ name, display_name, create_policy }) => ({
          value: name,
          label: `${display_name} · ${cronWords(create_policy)}`,
        })),
      }}
      about={
        policies.length === 0 ? 'Make a snapshot policy first: it says when the copy is brought up to date.' : undefined
      }
    />
  );
}

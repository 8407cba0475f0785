import { array } from '../../api/array.ts';
import { action, type ActionProps } from '../../contract/action-props.ts';
import { secondTime, timeOf } from '../../parts/format.ts';
import type { Snapshot } from '../records.ts';
import { newVolume } from '../volumes/actions.tsx';

export function takenAt(snapshot: Pick<Snapshot, 'created_at'>): Date {
  return timeOf(snapshot.created_at) ?? new Date(0);
}

/** Which snapshot, in words: names may be alike, and two may be of one minute. */
export function snapshotWords(snapshot: Pick<Snapshot, 'display_name' | 'created_at'>): string {
  return `“${snapshot.display_name}” of ${secondTime(takenAt(snapshot))}`;
}

/** `isAttached`: a server has the volume, and has to mount it again after it was restored. */
export function snapshotActions(snapshot: Snapshot, isAttached: boolean): ActionProps<never>[] {
  const { name: id, display_name: name, volume_ext_name: volume, volume_display_name: of } = snapshot;
  const which = snapshotWords(snapshot);
  return [
    action({
      op: array.volumes.restore,
      label: 'Restore the volume to it',
      input: { id: volume, snapshot: id },
      fields: isAttached ? ['force'] : [],
      more: [],
      destroys: of,
      about: `${of} gets the data of snapshot ${which}. A snapshot of its present data is taken first, so this can be undone.`,
      said: `${of} is being restored to ${which}.`,
    }),
    action({
      op: array.consistencyGroups.clone,
      label: 'Clone to a new volume',
      input: { volume_cg_id: snapshot.cg_name, snapshot: id },
      fields: ['name'],
      more: [],
      labels: { name: 'Name of the new volume' },
      start: { name: `${of}-${name}`.slice(0, 64) },
      about: `A new volume with the data of ${of} in snapshot ${which}. It takes room only for what is changed.`,
      ...newVolume,
    }),
    action({
      op: array.snapshots.rename,
      label: 'Rename',
      input: { id },
      start: { newname: name },
      about: `Snapshot ${which} of ${of}.`,
    }),
    action({
      op: array.snapshots.delete,
      label: 'Delete',
      input: { snapshot_id: id },
      destroys: name,
      about: `Snapshot ${which} of ${of} is gone for good. The volume stays as it is now.`,
    }),
  ];
}

import { array } from '../../api/array.ts';
import type { AnyInput } from '../../api/operations.ts';
import { action, type ActionProps } from '../../contract/action-props.ts';
import { startFrom, type StartFrom } from '../../contract/started-form.tsx';
import { undo, type Undo } from '../../contract/undo.tsx';
import { gigabytes } from '../../parts/format.ts';
import { RoomHint } from '../pools/provisioned.tsx';
import { choicesOf, isShare, type Pool, type Volume } from '../records.ts';
import type { ArrayHabits, ListedVolume } from './all.ts';
import { OPTION_LABELS } from './option-names.ts';
import { cappingFields, optionsSet, protectionSet, reductionFields, shareFields, thresholdsSet } from './options.ts';

/** Of a clone, which is a volume of its own. */
export const newVolume = {
  said: 'The clone is there.',
  leadsTo: ({ name }: Readonly<Record<string, unknown>>) => `/volumes?q=${encodeURIComponent(String(name))}`,
};

/** What can be done with a volume or share; `pools` are all of the array. */
export function volumeActions(
  volume: ListedVolume,
  pools: readonly Pool[],
  { hasBin, hasLifecycle }: ArrayHabits,
): ActionProps<never>[] {
  const input = { id: volume.name };
  const group = { volume_cg_id: volume.cg_name };
  const name = volume.display_name;
  return [
    action({
      op: array.snapshots.create,
      label: 'Take a snapshot',
      input: group,
      labels: { display_name: 'Name' },
      start: { display_name: snapshotName(new Date()) },
      said: `A snapshot of ${name} was taken.`,
    }),
    action({
      op: array.volumes.expand,
      label: 'Expand',
      input,
      labels: { capacity: 'How much to add' },
      about: `${name} has ${gigabytes(volume.virtual_capacity)} now. Servers see the new size when they look again.`,
      preview: ({ capacity }) => (
        <RoomHint
          size={capacity}
          pool={pools.find((one) => one.name === volume.pool_name)}
          unwritten={volume.virtual_capacity - volume.allocated_capacity}
        />
      ),
      said: `${name} was expanded.`,
    }),
    action({
      op: array.consistencyGroups.clone,
      label: 'Clone',
      input: group,
      fields: ['name'],
      more: [],
      labels: { name: 'Name of the new volume' },
      start: { name: `${name}-copy` },
      about: 'A new volume of its present data. It takes room only for what is changed.',
      ...newVolume,
    }),
    migrate(volume, pools),
    ...options(volume, hasLifecycle === true),
    action({
      op: array.volumes.rename,
      label: 'Rename',
      input,
      start: { new_name: name },
      said: `${name} was renamed.`,
    }),
    action({
      op: array.volumes.updateComment,
      label: 'Write a note',
      input,
      start: { new_comment: volume.comment ?? '' },
      labels: { new_comment: 'Note' },
      said: 'The note is saved.',
    }),
    action({
      op: array.volumes.delete,
      takesAway: true,
      label: 'Delete',
      input,
      destroys: name,
      fields: volume.has_snapshots === 'YES' ? ['force'] : [],
      more: [],
      labels: { force: 'Delete its snapshots, too' },
      about: deletionWords(hasBin),
      ...(hasBin === true && { said: `${name} is in the recycle bin of its pool.`, undo: undoDeletion(volume) }),
    }),
  ];
}

export function undoDeletion({ name, display_name: title }: Pick<ListedVolume, 'name' | 'display_name'>): Undo {
  return undo({ op: array.volumes.undelete, input: { id: name }, said: `${title} is back with its data.` });
}

export function deletionWords(hasBin: boolean | undefined): string {
  if (hasBin === true)
    return 'What is deleted goes to the recycle bin of its pool, and can be undeleted from there for a while.';
  if (hasBin === false) return 'The array keeps no recycle bin: the data is gone for good.';
  return 'What is deleted goes to the recycle bin where the array keeps one; without one, its data is gone for good.';
}

function migrate(volume: ListedVolume, pools: readonly Pool[]) {
  const { cg_name, pool_name, status, has_snapshots: hasSnapshots, display_name: name } = volume;
  const group = { migration_cg_id: cg_name };
  if (status === 'Migrating')
    return action({ op: array.migrationJobs.abort, label: 'Cancel the migration', input: group });
  const others = pools.filter((pool) => pool.name !== pool_name);
  return action({
    op: array.consistencyGroups.migrate,
    label: 'Migrate',
    input: { volume_cg_id: cg_name },
    fields: ['poolname', ...(hasSnapshots === 'YES' ? ['migratesnap'] : [])],
    start: { migratesnap: hasSnapshots === 'YES' },
    labels: { poolname: 'To the pool', migratesnap: 'Move its snapshots, too' },
    choices: { poolname: choicesOf(others, ({ available_capacity: free }) => `${gigabytes(free)} free`) },
    about: others.length === 0 ? 'There is no other pool.' : `Servers go on using ${name} meanwhile.`,
    said: `${name} is being moved.`,
  });
}

function options(volume: ListedVolume, hasLifecycle: boolean): ActionProps<never>[] {
  return isShare(volume) ? shareOptions(volume.name, hasLifecycle) : diskOptions(volume.name);
}

function shareOptions(id: string, hasLifecycle: boolean): ActionProps<never>[] {
  const input = { id };
  const fields = ['mountsync', 'atimeupdate', 'nfsrootsquash', 'nfsallsquash', ...reductionFields, 'auditenable'];
  const more = [...shareFields.filter((name) => name.startsWith('smb')), 'readaheadkb'];
  return [
    action({
      op: array.volumes.update,
      label: 'Options',
      input,
      startFrom: ofRecord(id, (volume) => optionsSet(volume, [...fields, ...more])),
      fields,
      labels: OPTION_LABELS,
      more: [...more, ...(hasLifecycle ? ['flcenabled'] : []), 'force'],
    }),
    action({ op: array.volumes.setExportName, label: 'Change the export name', input }),
    action({ op: array.volumes.addExportName, label: 'Add an export name', input }),
    action({
      op: array.volumes.updateProtection,
      label: 'When the volume is full',
      input,
      startFrom: ofRecord(id, protectionSet),
    }),
  ];
}

function diskOptions(id: string): ActionProps<never>[] {
  const input = { id };
  const fields = [...cappingFields, ...reductionFields];
  const more = ['mtr_histograms'];
  return [
    action({
      op: array.volumes.update,
      label: 'Options and limits',
      input,
      startFrom: ofRecord(id, (volume) => optionsSet(volume, [...fields, ...more])),
      fields,
      labels: OPTION_LABELS,
      more: [...more, 'force'],
    }),
    action({
      op: array.volumes.updatePerformanceThresholds,
      label: 'Alerts of performance',
      input,
      startFrom: ofRecord(id, thresholdsSet),
      labels: OPTION_LABELS,
      about: '0 is no alert.',
    }),
  ];
}

function ofRecord(id: string, start: (volume: Volume) => AnyInput): StartFrom {
  return startFrom({ op: array.volumes.get, input: { id }, start: ({ volume }) => start(volume) });
}

/** `2026-11-18 20:41`: a name that sorts. */
export function snapshotName(now: Date): string {
  return now.toISOString().slice(0, 16).replace('T', ' ');
}

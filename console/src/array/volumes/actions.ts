import { array } from '../../api/array.ts';
import { action, type ActionProps } from '../../contract/action.tsx';
import { undo, type Undo } from '../../contract/undo.tsx';
import { gigabytes } from '../../parts/format.ts';
import { choicesOf, isShare, type Pool } from '../records.ts';
import type { ArrayHabits, ListedVolume } from './all.ts';
import { cappingFields, reductionFields, shareFields } from './options.ts';

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
    }),
    action({
      op: array.volumes.expand,
      label: 'Expand',
      input,
      labels: { capacity: 'How much to add' },
      about: `${name} has ${gigabytes(volume.virtual_capacity)} now. Servers see the new size when they look again.`,
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
    action({ op: array.volumes.rename, label: 'Rename', input, start: { new_name: name } }),
    action({
      op: array.volumes.updateComment,
      label: 'Write a note',
      input,
      start: { new_comment: volume.comment ?? '' },
      labels: { new_comment: 'Note' },
    }),
    action({
      op: array.volumes.delete,
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

function migrate({ cg_name, pool_name, status, display_name: name }: ListedVolume, pools: readonly Pool[]) {
  const group = { migration_cg_id: cg_name };
  if (status === 'Migrating')
    return action({ op: array.migrationJobs.abort, label: 'Cancel the migration', input: group });
  const others = pools.filter((pool) => pool.name !== pool_name);
  return action({
    op: array.consistencyGroups.migrate,
    label: 'Migrate',
    input: { volume_cg_id: cg_name },
    labels: { poolname: 'To the pool', migratesnap: 'Move its snapshots, too' },
    choices: { poolname: choicesOf(others, ({ available_capacity: free }) => `${gigabytes(free)} free`) },
    about: others.length === 0 ? 'There is no other pool.' : `Servers go on using ${name} meanwhile.`,
    said: `${name} is being moved.`,
  });
}

function options(volume: ListedVolume, hasLifecycle: boolean): ActionProps<never>[] {
  const input = { id: volume.name };
  if (isShare(volume)) {
    return [
      action({
        op: array.volumes.update,
        label: 'Options',
        input,
        fields: ['mountsync', 'atimeupdate', 'nfsrootsquash', 'nfsallsquash', ...reductionFields, 'auditenable'],
        more: [
          ...shareFields.filter((name) => name.startsWith('smb')),
          'readaheadkb',
          ...(hasLifecycle ? ['flcenabled'] : []),
          'force',
        ],
      }),
      action({ op: array.volumes.setExportName, label: 'Change the export name', input }),
      action({ op: array.volumes.addExportName, label: 'Add an export name', input }),
      action({ op: array.volumes.updateProtection, label: 'When the volume is full', input }),
    ];
  }
  return [
    action({
      op: array.volumes.update,
      label: 'Options and limits',
      input,
      fields: [...cappingFields, ...reductionFields],
      more: ['mtr_histograms', 'force'],
      about: 'What is left empty stays as it is.',
    }),
    action({
      op: array.volumes.updatePerformanceThresholds,
      label: 'Alerts of performance',
      input,
      about: 'What is left empty stays as it is.',
    }),
  ];
}

/** `2026-11-18 20:41`: a name that sorts. */
export function snapshotName(now: Date): string {
  return now.toISOString().slice(0, 16).replace('T', ' ');
}

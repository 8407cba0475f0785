import { array } from '../../api/array.ts';
import { action, type ActionProps } from '../../contract/action-props.ts';
import { choicesOf, isOut, type Drive } from '../records.ts';
import { gigabytes } from '../../parts/format.ts';

export function driveChoices(drives: readonly Drive[]) {
  return choicesOf(drives, ({ capacity, disk_type }) => `${gigabytes(capacity)} ${disk_type}`);
}

/** What can be done with a drive in the state it is in; `free` are those that may take its place. */
export function driveActions(drive: Drive, free: readonly Drive[]): ActionProps<never>[] {
  const input = { id: drive.name };
  const name = drive.display_name;
  const rename = action({
    op: array.drives.rename,
    label: 'Rename',
    input,
    start: { newname: name },
    fields: ['newname'],
  });
  const service = isOut(drive)
    ? action({ op: array.drives.bringOnline, label: 'Put back into service', input })
    : action({
        op: array.drives.takeOffline,
        label: 'Take out of service',
        input,
        fields: ['force'],
        about: `${name} is handled as if its cable were pulled. A RAID group with redundancy goes on without it.`,
      });
  return [...(drive.usage === 'In-use' ? usedActions(drive, free) : freeActions(drive)), service, rename];
}

function usedActions({ name: id, display_name: name }: Drive, free: readonly Drive[]): ActionProps<never>[] {
  return [
    action({
      op: array.drives.replace,
      label: 'Replace',
      input: { id },
      fields: ['toname', 'force'],
      labels: { toname: 'Drive that takes its place' },
      choices: { toname: driveChoices(free.filter((one) => one.name !== id)) },
      about: `The data of ${name} is rebuilt onto another drive, then ${name} is free.`,
      said: `${name} is being replaced.`,
    }),
  ];
}

function freeActions({ name: id, display_name: name, status }: Drive): ActionProps<never>[] {
  if (status.startsWith('Shredding'))
    return [action({ op: array.drives.cancelShred, label: 'Stop shredding', input: { id } })];
  return [
    action({
      op: array.drives.shred,
      label: 'Shred',
      input: { id },
      fields: ['force'],
      destroys: name,
      about: 'The whole drive is overwritten. What was on it is gone for good.',
    }),
    action({
      op: array.drives.remove,
      takesAway: true,
      label: 'Return to the cloud',
      input: { id },
      destroys: name,
      about: 'The array has one drive fewer, and it is no longer on the bill.',
      said: `${name} went back to the cloud.`,
    }),
  ];
}

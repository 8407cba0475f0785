import { array } from '../../api/array.ts';
import { action, type ActionProps } from '../../contract/action-props.ts';
import { driveChoices } from '../drives/actions.ts';
import type { Drive, RaidGroup } from '../records.ts';

/** The drives that matter to a group, of all that the array has. A group has more drives than its width where one is a spare. */
export function drivesFor(group: RaidGroup, all: readonly Drive[]): GroupDrives {
  const own = all.filter(({ raid_group_name: name }) => name === group.name);
  return {
    free: all.filter(({ raid_group_name: name }) => name === null),
    hasSpare: own.length > group.protection_width,
  };
}

interface GroupDrives {
  /** Drives in no group. */
  readonly free: readonly Drive[];
  readonly hasSpare: boolean;
}

export function groupActions(group: RaidGroup, drives: GroupDrives): ActionProps<never>[] {
  const input = { id: group.name };
  const isScrubbing = group.status.startsWith('Scrubbing');
  const scrub = isScrubbing
    ? action({ op: array.raidGroups.pauseScrub, label: 'Pause the scrub', input })
    : action({
        op: array.raidGroups.scrub,
        label: 'Scrub',
        input,
        about: 'All drives are read; what does not match is repaired. The event log gets the result.',
        said: 'The scrub has begun.',
      });
  return [
    scrub,
    action({
      op: array.raidGroups.addHotSpare,
      label: 'Add a spare',
      input,
      labels: { disk: 'Drive' },
      choices: { disk: driveChoices(drives.free) },
      about: 'It takes the place of the first drive that fails, without anybody’s doing.',
    }),
    action({
      op: array.raidGroups.setResyncSpeed,
      label: 'Rebuild speed',
      input,
      start: { min: group.min_resync_speed, max: group.max_resync_speed },
      labels: { min: 'While servers work, MiB/s', max: 'Otherwise, MiB/s' },
    }),
    ...(drives.hasSpare ? [action({ op: array.raidGroups.removeHotSpare, label: 'Remove the spare', input })] : []),
    action({ op: array.raidGroups.rename, label: 'Rename', input, start: { newname: group.display_name } }),
    action({
      op: array.raidGroups.delete,
      takesAway: true,
      label: 'Delete',
      input,
      destroys: group.display_name,
      about: 'Its drives are free again. A RAID group that a pool uses is not deleted.',
    }),
  ];
}

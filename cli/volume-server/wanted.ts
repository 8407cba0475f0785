import type { RaidGroup, RaidLevel, Volume } from '@granary/storage';
import { usageFailure } from '../exit.ts';

/** What the options say. What is left out is the default for a new volume, and whatever there is for an old one. */
export interface WantedVolume {
  readonly sizeBytes: number;
  readonly level: RaidLevel | undefined;
  readonly drives: number | undefined;
  readonly compression: boolean;
  readonly deduplication: boolean;
}

export const LEVELS: Readonly<Record<RaidLevel, { readonly least: number; readonly most: number }>> = {
  RAID1: { least: 2, most: 3 },
  RAID6: { least: 4, most: 10 },
};

const MIB = 1024 * 1024;

/** What a new group is made of. */
export function groupFor({ sizeBytes, level = 'RAID1', drives }: WantedVolume) {
  const { least, most } = LEVELS[level];
  const count = drives ?? least;
  if (count < least || count > most) {
    throw usageFailure(`--drives must be from ${least} to ${most} for ${level}, not ${count}.`);
  }
  const shares = level === 'RAID1' ? 1 : count - 2;
  // Space for the group's own metadata, and some to spare.
  const driveBytes = Math.ceil(((sizeBytes / shares) * 1.01 + 64 * MIB) / MIB) * MIB;
  return { level, count, driveBytes };
}

/** Refuses options that say something else than what is there. */
export function checkSame(wanted: WantedVolume, folder: string, group: RaidGroup, { options }: Volume): void {
  const { level, members } = group.state();
  const differ = (flag: string, what: string) =>
    usageFailure(`${flag}: ${folder} holds a volume ${what}; leave the option out, or choose another folder.`);
  if (wanted.level !== undefined && wanted.level !== level) throw differ('--level', `on ${level}`);
  if (wanted.drives !== undefined && wanted.drives !== members.length) {
    throw differ('--drives', `on ${members.length} drives`);
  }
  if (wanted.compression && !options.compression) throw differ('--compression', 'without compression');
  if (wanted.deduplication && !options.deduplication) throw differ('--deduplication', 'without deduplication');
}

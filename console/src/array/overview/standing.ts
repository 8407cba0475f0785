import type { RecordOf } from '@granary/contract';
import type { Controller as ControllerRecord, MirrorJob as MirrorRecord } from '@granary/contract/array';
import { percent } from '../../parts/format.ts';
import { isFree, isOut, poolUsed, progressIn, type Drive, type Pool, type RaidGroup } from '../records.ts';
import type { ListedVolume } from '../volumes/all.ts';

export type Controller = RecordOf<typeof ControllerRecord>;
export type Mirror = RecordOf<typeof MirrorRecord>;

/** Everything the overview is made of. */
export interface ArrayFacts {
  readonly drives: readonly Drive[];
  readonly groups: readonly RaidGroup[];
  readonly pools: readonly Pool[];
  readonly volumes: readonly ListedVolume[];
  readonly mirrors: readonly Mirror[];
  readonly controllers: readonly Controller[];
}

export interface Concern {
  readonly key: string;
  readonly isSevere: boolean;
  readonly text: string;
  readonly to: string;
}

const FULL_PERCENT = 90;

/** What a person should look at, the worst first. */
export function concernsOf(facts: ArrayFacts): Concern[] {
  const all = [
    ...facts.drives.flatMap(ofDrive),
    ...facts.groups.flatMap(ofGroup),
    ...facts.pools.flatMap(ofPool),
    ...facts.volumes.flatMap(ofVolume),
    ...facts.mirrors.flatMap(ofMirror),
    ...facts.controllers.flatMap(ofController),
  ];
  return all.sort((a, b) => Number(b.isSevere) - Number(a.isSevere));
}

function ofDrive(drive: Drive): Concern[] {
  if (!isOut(drive)) return [];
  const { name, display_name, status, raid_group_name } = drive;
  const next = raid_group_name === null ? '' : ' Replace it with a free drive.';
  const text = `Drive ${display_name} ${status === 'Failed' ? 'has failed' : 'is absent'}.${next}`;
  return [{ key: name, isSevere: raid_group_name !== null, text, to: `/drives/${name}` }];
}

function ofGroup({ name, display_name, status, mismatch_count }: RaidGroup): Concern[] {
  const to = `/raid-groups/${name}`;
  if (status === 'Failed') return [{ key: name, isSevere: true, text: `RAID group ${display_name} has failed.`, to }];
  if (status === 'Degraded')
    return [{ key: name, isSevere: true, text: `RAID group ${display_name} has lost redundancy.`, to }];
  if (mismatch_count > 0)
    return [
      { key: name, isSevere: false, text: `The last scrub of ${display_name} found ${mismatch_count} mismatches.`, to },
    ];
  return [];
}

function ofPool(pool: Pool): Concern[] {
  const { name: key, display_name: name, status, capacity_mode: mode } = pool;
  const to = `/pools/${key}`;
  if (status === 'failed') return [{ key, isSevere: true, text: `Not all of pool ${name} can be read.`, to }];
  if (mode === 'emergency')
    return [{ key, isSevere: true, text: `Pool ${name} is nearly full: its oldest snapshots are deleted.`, to }];
  if (mode === 'protected')
    return [{ key, isSevere: true, text: `Pool ${name} takes no new volumes, because it will soon be full.`, to }];
  const share = Math.trunc(percent(poolUsed(pool), pool.capacity));
  if (mode === 'alert' || share >= FULL_PERCENT)
    return [{ key, isSevere: false, text: `Pool ${name} is ${share}% full. Expand it.`, to }];
  return [];
}

function ofVolume({ name: key, display_name: name, status, capacity_mode: mode }: ListedVolume): Concern[] {
  const to = `/volumes/${key}`;
  if (status === 'Locked')
    return [
      { key, isSevere: true, text: `${name} is locked: the array needs the encryption password (Settings).`, to },
    ];
  if (mode !== 'normal')
    return [{ key, isSevere: mode === 'emergency', text: `${name} is nearly full. Expand it.`, to }];
  return [];
}

function ofMirror({ job_name: key, job_display_name: name, status }: Mirror): Concern[] {
  if (status !== 'Broken' && status !== 'Disconnected') return [];
  return [{ key, isSevere: false, text: `Mirror ${name} is ${status.toLowerCase()}.`, to: '/mirrors' }];
}

function ofController({ name: key, display_name: name, state, heartbeat1, heartbeat2 }: Controller): Concern[] {
  const to = '/settings';
  if (state === 'failed') return [{ key, isSevere: true, text: `Controller ${name} has failed.`, to }];
  if (heartbeat1 === 'lost' || heartbeat2 === 'lost')
    return [{ key, isSevere: false, text: `Controller ${name} has lost a heartbeat.`, to }];
  return [];
}

export interface Work {
  readonly key: string;
  readonly text: string;
  readonly to: string;
  /** Percent; undefined while it is not known. */
  readonly progress: number | undefined;
}

/** What the array is doing for longer than a moment. */
export function workOf({ drives, groups, pools, volumes, mirrors }: ArrayFacts): Work[] {
  const work = (key: string, status: string, what: string, to: string): Work[] => {
    const progress = progressIn(status);
    const isBusy = progress !== undefined || BUSY.test(status);
    return isBusy ? [{ key, text: `${what}: ${status.replace(/\s*\d+\s*%/, '').toLowerCase()}`, to, progress }] : [];
  };
  return [
    ...groups.flatMap((one) =>
      work(one.name, one.status, `RAID group ${one.display_name}`, `/raid-groups/${one.name}`),
    ),
    ...drives.flatMap((one) => work(one.name, one.status, `Drive ${one.display_name}`, `/drives/${one.name}`)),
    ...pools.flatMap((one) => work(one.name, one.status, `Pool ${one.display_name}`, `/pools/${one.name}`)),
    ...volumes.flatMap((one) => work(one.name, one.status, one.display_name, `/volumes/${one.name}`)),
    ...mirrors.flatMap((one) => work(one.job_name, one.status, `Mirror ${one.job_display_name}`, '/mirrors')),
  ];
}

const BUSY =
  /^(?:Rebuild|Recovering|Scrubbing|Shredding|Migrating|Restoring|Syncing|shrinking|creating|deleting|Deleting)/;

/** How a box of the picture is coloured, and the sign that says the same without colour. */
export type Tone = 'good' | 'busy' | 'warning' | 'bad' | 'free';

export const SIGNS: Readonly<Record<Tone, string>> = { good: '', busy: '↻', warning: '!', bad: '✕', free: '' };

export function driveTone(drive: Drive): Tone {
  if (isOut(drive)) return 'bad';
  if (BUSY.test(drive.status)) return 'busy';
  return isFree(drive) ? 'free' : 'good';
}

export function groupTone({ status }: RaidGroup): Tone {
  if (status === 'Failed') return 'bad';
  if (status === 'Degraded') return 'warning';
  return BUSY.test(status) ? 'busy' : 'good';
}

export function poolTone(pool: Pool): Tone {
  const { status, capacity_mode: mode } = pool;
  if (status === 'failed' || mode === 'emergency') return 'bad';
  if (mode !== 'normal' || percent(poolUsed(pool), pool.capacity) >= FULL_PERCENT) return 'warning';
  return BUSY.test(status) ? 'busy' : 'good';
}

export function volumeTone({ status, capacity_mode: mode }: ListedVolume): Tone {
  if (status === 'Locked' || mode === 'emergency') return 'bad';
  if (mode !== 'normal') return 'warning';
  return BUSY.test(status) || status === 'Creating' ? 'busy' : 'good';
}

import { formatUtc, LOGIN, type NewEvent } from '@granary/kernel';
import type { EngineEvent } from '../engine/events.ts';
import { listed } from '../wording.ts';
import type { EventNames } from './names.ts';

/** Who reads an archived file wants its data, not words about it. */
export type WordedEvent = Exclude<EngineEvent, { readonly type: 'recall-wanted' | 'contents-wanted' }>;
type Of<T extends WordedEvent['type']> = Extract<WordedEvent, { readonly type: T }>;
type Titles = { readonly [T in WordedEvent['type']]: (event: Of<T>, names: EventNames) => NewEvent };

/** One sentence for each thing that happens, what it happened to, and how bad that is. */
const titles: Titles = {
  'drive-failed': ({ drive, group, reason }, names) => ({
    severity: 'error',
    title: `Drive ${names.drive(drive)}${group === null ? '' : ` of RAID group ${names.group(group)}`} failed: ${ended(reason)}`,
    subject: names.driveSubject(drive),
  }),
  'drive-returned': ({ drive, group }, names) => ({
    severity: 'notice',
    title: `Drive ${names.drive(drive)} is back in RAID group ${names.group(group)}; what it missed is copied to it.`,
    subject: names.driveSubject(drive),
  }),
  'spare-taken': ({ drive, group }, names) => ({
    severity: 'warning',
    title: `Hot spare ${names.drive(drive)} took the place of a failed drive in RAID group ${names.group(group)}.`,
    subject: names.driveSubject(drive),
  }),
  'spare-failed': ({ drive, group, reason }, names) => ({
    severity: 'warning',
    title: `Hot spare ${names.drive(drive)} of RAID group ${names.group(group)} failed: ${ended(reason)}`,
    subject: names.driveSubject(drive),
  }),
  'rebuild-started': ({ drive, group }, names) => ({
    severity: 'notice',
    title: `RAID group ${names.group(group)} is being rebuilt onto drive ${names.drive(drive)}.`,
    subject: `raid_group:${group}`,
  }),
  'rebuild-finished': ({ drive, group }, names) => ({
    severity: 'notice',
    title: `The rebuild of RAID group ${names.group(group)} onto drive ${names.drive(drive)} is done.`,
    subject: `raid_group:${group}`,
  }),
  'resync-started': ({ group }, names) => ({
    severity: 'notice',
    title: `RAID group ${names.group(group)} was cut off in the middle of writes and is being made consistent.`,
    subject: `raid_group:${group}`,
  }),
  'resync-finished': ({ group }, names) => ({
    severity: 'notice',
    title: `RAID group ${names.group(group)} is consistent again.`,
    subject: `raid_group:${group}`,
  }),
  'blocks-repaired': ({ drive, group, count }, names) => ({
    severity: 'warning',
    title: `On drive ${names.drive(drive)} of RAID group ${names.group(group)} ${blocks(count)} repaired from the other drives.`,
    subject: names.driveSubject(drive),
  }),
  'checksums-rejected': ({ drive, group, count }, names) => ({
    severity: 'warning',
    title: `On drive ${names.drive(drive)} of RAID group ${names.group(group)} the checksums of ${regions(count)} overwritten, old or of another drive; the drive is brought in line there from the other drives.`,
    subject: names.driveSubject(drive),
  }),
  'blocks-lost': ({ group, count }, names) => ({
    severity: 'error',
    title: `In RAID group ${names.group(group)} ${blocks(count)} lost: too many drives have them wrong. Restore the data from a snapshot or a copy.`,
    subject: `raid_group:${group}`,
  }),
  'no-space': ({ group, reason }, names) => ({
    severity: 'error',
    title: `RAID group ${names.group(group)} waits for space on the disks beneath its drives: ${ended(reason)}`,
    subject: `raid_group:${group}`,
  }),
  'group-failed': ({ group, drives }, names) => ({
    severity: 'error',
    title: `RAID group ${names.group(group)} failed: it lacks ${drives.length === 1 ? 'drive' : 'drives'} ${listed(drives.map((drive) => names.drive(drive)))}. Bring them back.`,
    subject: `raid_group:${group}`,
  }),
  'group-resumed': ({ group }, names) => ({
    severity: 'notice',
    title: `RAID group ${names.group(group)} serves again.`,
    subject: `raid_group:${group}`,
  }),
  'background-error': ({ pool, reason }, names) => ({
    severity: 'error',
    title: `Work in the background of pool ${names.pool(pool)} failed: ${ended(reason)}`,
    subject: `pool:${pool}`,
  }),
  'volume-reduced': ({ volume }, names) => ({
    title: `What ${names.volume(volume)} held before its data reduction was switched on is reduced now.`,
    subject: `volume:${volume}`,
  }),
  'session-opened': ({ server, initiator, address }, names) => ({
    title: `Server ${names.server(server)} logged in as ${initiator} from ${address}.`,
    kind: LOGIN,
    subject: `server:${server}`,
  }),
  'session-closed': ({ server, initiator, reason }, names) => ({
    title: `A session of server ${names.server(server)} (${initiator}) ended: ${ended(reason)}`,
    kind: LOGIN,
    subject: `server:${server}`,
  }),
  'login-refused': ({ initiator, address, reason }) => ({
    severity: 'warning',
    title: `An iSCSI login of ${initiator} from ${address} was refused: ${ended(reason)}`,
    kind: LOGIN,
    subject: 'logins',
  }),
  'audit-space-reclaimed': ({ volume, untilMs }, names) => ({
    severity: 'warning',
    title: `The audit records of share ${names.volume(volume)} until ${formatUtc(untilMs)} were deleted to make room for new ones.`,
    subject: `volume:${volume}`,
  }),
  'controller-active': ({ controller, reason }) => ({
    severity: 'notice',
    title: `Controller ${controller} is active: ${ended(reason)}`,
    subject: `controller:${controller}`,
  }),
  'controller-failed': ({ controller, reason }) => ({
    severity: 'error',
    title: `Controller ${controller} failed: ${ended(reason)}`,
    subject: `controller:${controller}`,
  }),
};

export function eventOf(event: WordedEvent, names: EventNames): NewEvent {
  return (titles[event.type] as (event: WordedEvent, names: EventNames) => NewEvent)(event, names);
}

/** A reason comes with or without its full stop. */
function ended(reason: string): string {
  return /[.!?]$/.test(reason) ? reason : `${reason}.`;
}

function regions(count: number): string {
  return count === 1 ? '1 region were' : `${count} regions were`;
}

function blocks(count: number): string {
  return count === 1 ? '1 damaged block was' : `${count} damaged blocks were`;
}

import { endpoint, type Group } from '../endpoint.ts';
import { boolean, choice, integer, list, name, optional, page, withDefault } from '../params.ts';
import { int, listOf, oneOf, record, str, utc, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';
import { Drive } from './drives.ts';
import { driveId, raidGroupId } from './ids.ts';
import { interval, IoPoint, performance } from './performance.ts';
import { count } from './shared.ts';
import { startsWork } from '../params.ts';
import { Type } from '../schema.ts';

const protections = ['RAID1', 'RAID6'] as const;
const STRIPE_SIZES_KB = [4, 16, 32, 64, 128, 256];

export const RaidGroup = record('RaidGroup', {
  name: str(),
  display_name: str(),
  protection: oneOf(...protections),
  mirror_num: int('Copies of the data'),
  stripe_size: int('KB'),
  protection_width: int('Drives, hot spares not counted'),
  capacity: int('Whole GB, cut'),
  available: int('Whole GB that no pool uses, cut'),
  status: str('Normal, Degraded, Recovering <n>%, Scrubbing <n>% or Failed'),
  ssd: yesNo(),
  mismatch_count: int('Mismatches the last scrub found'),
  resync_speed: int('MB/s now'),
  min_resync_speed: int('MB/s'),
  max_resync_speed: int('MB/s'),
  created_at: utc(),
  modified_at: utc(),
});

const raidGroupPage = response({ raid_groups: listOf(RaidGroup), count });
const raidGroupNamed = response({ raidgroup_name: str() });
const megabytesASecond = { min: 1, max: 100_000, example: 100 };

export const raidGroups = {
  list: endpoint('GET', '/raid_groups', {
    summary: 'List the RAID groups',
    access: signedIn,
    params: page,
    reply: raidGroupPage,
  }),
  get: endpoint('GET', '/raid_groups/{id}', {
    summary: 'Show one RAID group',
    access: signedIn,
    params: { id: raidGroupId },
    reply: response({ raid_group: RaidGroup }),
    errors: ['raid_group_not_found'],
  }),
  listFree: endpoint('GET', '/raid_groups/free', {
    summary: 'List the RAID groups that are in no pool',
    access: signedIn,
    params: page,
    reply: raidGroupPage,
  }),
  create: endpoint('POST', '/raid_groups', {
    summary: 'Build a RAID group from free drives',
    access: signedIn,
    params: {
      display_name: name('Name shown to users', { example: 'fast' }),
      protection: choice(protections, 'RAID1 takes 2 or 3 drives, RAID6 4 to 10'),
      disk: list(driveId, 'The free drives', { min: 2, max: 32, example: ['volume-00000001', 'volume-00000002'] }),
      protection_width: optional(integer('Drives that hold data, hot spare not counted', { min: 2, max: 10 })),
      stripe_size: withDefault(
        {
          ...integer('Stripe size of RAID6, KB'),
          schema: Type.Unsafe<number>({ type: 'integer', enum: STRIPE_SIZES_KB }),
        },
        64,
      ),
      hot_spare: withDefault(boolean('Keep the last drive as a hot spare'), false),
      force: withDefault(boolean('Allow drives of different capacity or type; the smallest counts for all'), false),
    },
    reply: raidGroupNamed,
    errors: [
      'drive_not_found',
      'drive_in_use',
      'drive_sizes_differ',
      'name_taken',
      'capacity_refused',
      'limit_reached',
      'state_conflict',
      'not_offered',
    ],
  }),
  delete: endpoint('DELETE', '/raid_groups/{id}', {
    summary: 'Delete a RAID group that is in no pool; its drives are free again',
    access: adminOnly,
    params: { id: raidGroupId },
    reply: raidGroupNamed,
    errors: ['raid_group_not_found', 'raid_group_in_use', 'state_conflict'],
  }),
  listDrives: endpoint('GET', '/raid_groups/{id}/disks', {
    summary: 'List the drives of a RAID group',
    access: signedIn,
    params: { id: raidGroupId, ...page },
    reply: response({ disks: listOf(Drive), count }),
    errors: ['raid_group_not_found'],
  }),
  rename: endpoint('POST', '/raid_groups/{id}/rename', {
    summary: 'Rename a RAID group',
    access: adminOnly,
    params: { id: raidGroupId, newname: name('New name', { example: 'slow', aliases: ['new_name'] }) },
    reply: raidGroupNamed,
    errors: ['raid_group_not_found', 'name_taken'],
  }),
  setResyncSpeed: endpoint('POST', '/raid_groups/{id}/resync_speed', {
    summary: 'Set how fast a RAID group rebuilds and scrubs',
    access: adminOnly,
    params: {
      id: raidGroupId,
      min: integer('MB/s while servers read and write', megabytesASecond),
      max: integer('MB/s while they do not', megabytesASecond),
    },
    reply: raidGroupNamed,
    errors: ['raid_group_not_found'],
  }),
  scrub: endpoint('POST', '/raid_groups/{id}/scrub', {
    summary: 'Read all drives of a RAID group and repair what does not match; the event log gets the result',
    access: adminOnly,
    params: { id: raidGroupId, ...startsWork },
    reply: raidGroupNamed,
    job: { until: ['Normal', 'Degraded', 'Failed'] },
    errors: ['raid_group_not_found', 'state_conflict'],
  }),
  pauseScrub: endpoint('POST', '/raid_groups/{id}/pause_scrub', {
    summary: 'Pause a scrub; the next one goes on from there',
    access: adminOnly,
    params: { id: raidGroupId },
    reply: raidGroupNamed,
    errors: ['raid_group_not_found', 'state_conflict'],
  }),
  addHotSpare: endpoint('POST', '/raid_groups/{id}/hot_spares', {
    summary: 'Give a RAID group a free drive that replaces the first one to fail',
    access: adminOnly,
    params: {
      id: raidGroupId,
      disk: driveId,
      force: withDefault(boolean('Allow a drive of different capacity or type'), false),
    },
    reply: raidGroupNamed,
    errors: [
      'raid_group_not_found',
      'drive_not_found',
      'drive_in_use',
      'drive_sizes_differ',
      'capacity_refused',
      'limit_reached',
      'state_conflict',
    ],
  }),
  removeHotSpare: endpoint('POST', '/raid_groups/{id}/hot_spares/remove', {
    summary: "Free a RAID group's hot spare",
    access: adminOnly,
    params: { id: raidGroupId },
    reply: raidGroupNamed,
    errors: ['raid_group_not_found', 'nothing_to_delete', 'state_conflict'],
  }),
  performance: performance('/raid_groups/{id}/performance', {
    of: 'a RAID group',
    params: { id: raidGroupId, interval },
    fields: { raid_group_name: str(), usages: listOf(IoPoint) },
    errors: ['raid_group_not_found'],
  }),
} satisfies Group;

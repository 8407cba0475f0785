import { endpoint, type Group } from '../endpoint.ts';
import { boolean, name, page, withDefault } from '../params.ts';
import { int, listOf, nullable, oneOf, record, str, utc, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';
import { driveId } from './ids.ts';
import { interval, IoPoint, performance } from './performance.ts';
import { count } from './shared.ts';
import { startsWork } from '../params.ts';

export const Drive = record('Drive', {
  name: str(),
  display_name: str(),
  disk_type: str(),
  disk_uuid: str(),
  storage_node: str('The node that holds it'),
  vpartition_id: int(),
  raid_group_name: nullable(str('null when free')),
  usage: oneOf('Available', 'In-use'),
  status: str('Available, Normal, Rebuild, Shredding <n>%, Failed or Absent'),
  capacity: int('GB'),
  allocation_group: str(),
  cache: yesNo(),
  allocation_zone: str(),
  allocation_zone_display_name: nullable(str()),
  created_at: utc(),
  modified_at: utc(),
});

const drivePage = response({ disks: listOf(Drive), count });
const driveNamed = response({ disk_name: str() });

export const drives = {
  list: endpoint('GET', '/drives', {
    summary: 'List the drives',
    access: signedIn,
    params: page,
    reply: drivePage,
  }),
  get: endpoint('GET', '/drives/{id}', {
    summary: 'Show one drive',
    access: signedIn,
    params: { id: driveId },
    reply: response({ disk: Drive }),
    errors: ['drive_not_found'],
  }),
  listFree: endpoint('GET', '/drives/free', {
    summary: 'List the drives that are in no RAID group',
    access: signedIn,
    params: page,
    reply: drivePage,
  }),
  rename: endpoint('POST', '/drives/{id}/rename', {
    summary: 'Rename a drive',
    access: adminOnly,
    params: { id: driveId, newname: name('New name', { example: 'left', aliases: ['new_name'] }) },
    reply: driveNamed,
    errors: ['drive_not_found', 'name_taken'],
  }),
  remove: endpoint('POST', '/drives/{id}/remove', {
    frees: true,
    summary: 'Give a free drive back to the cloud',
    access: adminOnly,
    params: { id: driveId },
    reply: driveNamed,
    errors: ['drive_not_found', 'drive_in_use', 'state_conflict'],
  }),
  replace: endpoint('POST', '/drives/{id}/replace', {
    summary: 'Put a free drive in the place of one in a RAID group and rebuild onto it',
    access: adminOnly,
    params: {
      id: driveId,
      toname: { ...driveId, description: 'The free drive that takes its place', example: 'volume-00000002' },
      force: withDefault(
        boolean('Go on although the RAID group has no redundancy left, or the new drive is of another type'),
        false,
      ),
      ...startsWork,
    },
    reply: driveNamed,
    job: { until: ['Normal', 'Failed'], watch: { group: 'drives', by: 'toname' } },
    errors: ['drive_not_found', 'drive_in_use', 'state_conflict', 'capacity_refused'],
  }),
  shred: endpoint('POST', '/drives/{id}/shred', {
    summary: 'Overwrite a free drive: its data is gone for good',
    access: adminOnly,
    params: {
      id: driveId,
      force: withDefault(boolean('Try it although the drive has failed'), false),
      ...startsWork,
    },
    reply: driveNamed,
    job: { until: ['Available', 'Failed'] },
    errors: ['drive_not_found', 'drive_in_use', 'state_conflict'],
  }),
  cancelShred: endpoint('POST', '/drives/{id}/cancel_shred', {
    summary: 'Stop shredding a drive; what was overwritten stays overwritten',
    access: adminOnly,
    params: { id: driveId },
    reply: driveNamed,
    errors: ['drive_not_found', 'state_conflict'],
  }),
  takeOffline: endpoint('POST', '/drives/{id}/offline', {
    summary: 'Take a drive out of service, as if its cable were pulled: to rehearse a failure, or before it is changed',
    access: adminOnly,
    params: {
      id: driveId,
      force: withDefault(boolean('Go on although its RAID group loses data access without it'), false),
    },
    reply: driveNamed,
    errors: ['drive_not_found', 'state_conflict'],
  }),
  bringOnline: endpoint('POST', '/drives/{id}/online', {
    summary: 'Put a drive back into service; what it missed is copied to it',
    access: adminOnly,
    params: { id: driveId },
    reply: driveNamed,
    errors: ['drive_not_found', 'state_conflict'],
  }),
  performance: performance('/drives/{id}/performance', {
    of: 'a drive',
    params: { id: driveId, interval },
    fields: { disk_name: str(), usages: listOf(IoPoint) },
    errors: ['drive_not_found'],
  }),
} satisfies Group;

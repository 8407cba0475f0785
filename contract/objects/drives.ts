import { endpoint, type Group } from '../endpoint.ts';
import { choice, page, text } from '../params.ts';
import { int, listOf, nullable, num, record, str, utc } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly } from './access.ts';
import { metering } from './metering.ts';

/** What both views of a drive show. */
const identity = {
  name: str(),
  display_name: str(),
  disk_type: str(),
  disk_uuid: str(),
  storage_node: str(),
  vc: nullable(str('The virtual controller that serves it')),
  allocation_zone: str(),
  allocation_zone_display_name: nullable(str()),
  storage_policy: nullable(str()),
  status: str('`Normal`, `Absent` or `Failed`'),
  capacity: num('GB'),
  created_at: utc(),
  modified_at: utc(),
};

export const Drive = record('Drive', {
  ...identity,
  region_id: int(),
  zone_id: int(),
  policy_type: nullable(str()),
  capacity_protection: nullable(str()),
  used_capacity: num('GB'),
  partition_count_degraded: int('Partitions that lack one copy or fragment'),
  partition_count_critical: int('Partitions that cannot lose another one'),
});

/** As a virtual controller shows the drives it serves. */
export const ServedDrive = record('ServedDrive', {
  ...identity,
  used_capacity: num('GB'),
  avail_capacity: num('GB'),
  total_capacity: num('GB'),
});

const driveName = text('Name of the drive', { max: 64, example: 'volume-00000001' });

export const drives = {
  list: endpoint('GET', '/objs/drives', {
    summary: 'List the drives',
    access: adminOnly,
    params: page,
    reply: response({ disks: listOf(Drive), count: int() }),
  }),
  get: endpoint('GET', '/objs/drives/{name}', {
    summary: 'Show one drive',
    access: adminOnly,
    params: { name: driveName },
    reply: response({ disk: Drive }),
    errors: ['objs_drive_not_found'],
  }),
  ...metering('/objs/drives/{id}', {
    subject: 'a drive',
    access: adminOnly,
    params: {
      id: driveName,
      service: choice(['disk'], 'Which service is measured'),
      vc: text('Name of the virtual controller that serves the drive', { max: 64, example: 'vsa-00000001-vc-0' }),
    },
    errors: ['objs_drive_not_found', 'objs_controller_not_found'],
  }),
} satisfies Group;

import { endpoint, type Group } from '../endpoint.ts';
import { integer, optional, page, text } from '../params.ts';
import { int, listOf, nullable, record, str, utc, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly } from './access.ts';
import { ServedDrive } from './drives.ts';
import { metering, proxyService } from './metering.ts';
import { waiting, worked } from './waiting.ts';

export const VirtualController = record('VirtualController', {
  name: str(),
  vc_index: int(),
  storage_node: str(),
  role: str('`proxy+storage` or `proxy`'),
  vc_state: str(),
  proxy_state: str('`OBJ_NORMAL` when it serves requests'),
  integrity: str('`normal` when every service of it runs'),
  manager_role: str('`ring master` or `ring slave`'),
  region_id: int(),
  zone_id: int(),
  policy_type: nullable(str()),
  allocation_zone: str(),
  allocation_zone_display_name: nullable(str()),
  status: str('`created` or `failed`'),
  fe_ip: nullable(str('Address that clients reach it at')),
  fe_ipv6: nullable(str()),
  be_ip: nullable(str('Address that the other controllers reach it at')),
  lb_group_name: nullable(str()),
  lb_group_owner: nullable(str('The controller that holds the address of the group')),
  lb_group_priority: nullable(int()),
  lb_group_configured: yesNo(),
  lb_state: nullable(str()),
  created_at: utc(),
  modified_at: utc(),
});

const controller = text('Index or name of the virtual controller', { max: 64, example: '0' });

export const virtualControllers = {
  list: endpoint('GET', '/objs/virtual_controllers', {
    summary: 'List the virtual controllers',
    access: adminOnly,
    params: page,
    reply: response({ vcs: listOf(VirtualController), count: int() }),
  }),
  get: endpoint('GET', '/objs/virtual_controllers/{vc-index}', {
    summary: 'Show one virtual controller',
    access: adminOnly,
    params: { 'vc-index': controller, ...page },
    reply: response({ vc: VirtualController }),
    errors: ['objs_controller_not_found'],
  }),
  listDrives: endpoint('GET', '/objs/virtual_controllers/{vc-index}/drives', {
    summary: 'List the drives a virtual controller serves',
    access: adminOnly,
    params: { 'vc-index': controller },
    reply: response({ disks: listOf(ServedDrive), count: int() }),
    errors: ['objs_controller_not_found'],
  }),
  removeProxies: endpoint('DELETE', '/objs/virtual_controllers/remove_proxy_vcs', {
    summary: 'Remove virtual controllers that only pass requests on and hold no data',
    access: adminOnly,
    params: {
      quantity: integer('How many to remove', { min: 1, max: 100, example: 1 }),
      region_id: optional(integer('Region to remove them from, where the array has several')),
      ...waiting,
    },
    reply: worked,
    job: { until: ['deleted'] },
    errors: ['objs_state_conflict'],
  }),
  ...metering('/objs/virtual_controllers/{id}', {
    subject: 'a virtual controller',
    access: adminOnly,
    params: { id: controller, service: proxyService },
    errors: ['objs_controller_not_found'],
  }),
} satisfies Group;

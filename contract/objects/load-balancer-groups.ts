import { endpoint, type Group } from '../endpoint.ts';
import { page, text } from '../params.ts';
import { int, listOf, nullable, record, str, utc } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly } from './access.ts';
import { metering, proxyService } from './metering.ts';

export const LoadBalancerGroup = record('LoadBalancerGroup', {
  name: str(),
  vrid: int('Number of the virtual router that holds its address'),
  ip_v4: nullable(str()),
  ip_v6: nullable(str()),
  region_id: int(),
  allocation_zone: str(),
  allocation_zone_display_name: nullable(str()),
  vcs: str('Names of its virtual controllers, separated by commas'),
  master_vc: nullable(str('The virtual controller that holds the address now')),
  created_at: utc(),
  modified_at: utc(),
});

const groupName = text('Name of the load balancer group', { max: 64, example: 'lbg-1' });

export const loadBalancerGroups = {
  list: endpoint('GET', '/objs/load_balancer_groups', {
    summary: 'List the load balancer groups',
    access: adminOnly,
    params: page,
    reply: response({ lbgs: listOf(LoadBalancerGroup), count: int() }),
  }),
  get: endpoint('GET', '/objs/load_balancer_groups/{name}', {
    summary: 'Show one load balancer group',
    access: adminOnly,
    params: { name: groupName },
    reply: response({ lbg: LoadBalancerGroup }),
    errors: ['load_balancer_group_not_found'],
  }),
  ...metering('/objs/load_balancer_groups/{id}', {
    subject: 'a load balancer group',
    access: adminOnly,
    params: { id: groupName, service: proxyService },
    errors: ['load_balancer_group_not_found'],
  }),
} satisfies Group;

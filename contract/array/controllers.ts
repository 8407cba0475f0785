import { endpoint, type Group } from '../endpoint.ts';
import { boolean, optional, page, secret, text, withDefault } from '../params.ts';
import { int, iso, listOf, nullable, num, oneOf, record, secretText, str, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';
import { controllerId } from './ids.ts';
import { CachePoint, ControllerPoint, interval, performance, requiredInterval } from './performance.ts';
import { newChapSecret, newChapUser, Session } from './servers.ts';
import { raidReadMode } from './settings.ts';
import { count } from './shared.ts';

export const Controller = record('Controller', {
  name: str(),
  display_name: str(),
  index: int(),
  state: oneOf('active', 'standby', 'failed'),
  target: str('IQN servers log in to'),
  iscsi_ip: str(),
  iscsi_ipv6: nullable(str()),
  mgmt_ip: str(),
  mgmt_ipv6: nullable(str()),
  software_ver: str(),
  heartbeat1: oneOf('ok', 'lost'),
  heartbeat2: oneOf('ok', 'lost'),
  array_chap_user: str('What servers without a name of their own sign in to the array with'),
  array_chap_secret: secretText('CHAP secret'),
  host_chap_user: nullable(str('What the array signs in with to servers that have no such name of their own')),
  host_chap_secret: nullable(secretText('CHAP secret')),
  ike_psk: nullable(secretText('IKE key')),
  encryption_password_set: yesNo(),
  is_encryption_active: yesNo(),
  sn_host: str('The node it runs on'),
  cache_size: num('GB'),
  cpu_usage_alert: int('Percent'),
  mem_usage_alert: int('Percent'),
  cpu_docker_usage_alert: int('Percent'),
  mem_docker_usage_alert: int('Percent'),
  recycle_bin: yesNo(),
  file_lifecycle: yesNo(),
  dm_concurrency_level: int('How many volumes are moved between pools at a time'),
  nfs4_disable_idmapping: yesNo(),
  raid_read_mode: raidReadMode,
  allocation_zone_name: str(),
  allocation_zone_display_name: nullable(str()),
  smb_unix_charset: str(),
  smb_dos_charset: str(),
  array_uuid: str(),
  sod_end_time: nullable(iso()),
  wwpn_count: int(),
  integrity_status: str(),
  iser_support: yesNo(),
});

export const ControllerVirtualNetwork = record('ControllerVirtualNetwork', {
  id: int(),
  ip: nullable(str()),
  ipv6: nullable(str()),
  gateway: nullable(str()),
  ipv6_gateway: nullable(str()),
  netmask: nullable(str()),
  ipv6_netmask: nullable(str()),
  vlan_id: nullable(int()),
  interface: str(),
  net_uuid: nullable(str()),
});

export const controllers = {
  list: endpoint('GET', '/vcontrollers', {
    summary: 'List the controllers: the active one serves, the others stand by',
    access: signedIn,
    params: page,
    reply: response({ vcontrollers: listOf(Controller), count }),
  }),
  listVirtualNetworks: endpoint('GET', '/vcontrollers/virtual_networks', {
    summary: 'List the networks the controllers are in',
    access: signedIn,
    params: page,
    reply: response({ vnis: listOf(ControllerVirtualNetwork), count }),
  }),
  failover: endpoint('POST', '/vcontrollers/failover', {
    summary: 'Hand over from the active controller to a standby',
    access: adminOnly,
    params: { force: withDefault(boolean('Hand over although the standby is not in step'), false) },
    reply: response({}),
    errors: ['state_conflict', 'not_offered'],
  }),
  setChap: endpoint('POST', '/vcontrollers/chap', {
    summary: 'Change the CHAP names and secrets of the array, for servers without their own; what is not sent stays',
    access: adminOnly,
    params: {
      array_chap_user: optional(text('Name servers sign in to the array with', { max: 64, example: 'vsa' })),
      array_chap_secret: optional(
        secret('Secret servers sign in to the array with, 12 to 16 characters', { min: 12, max: 16 }),
      ),
      host_chap_user: newChapUser('Name the array signs in to servers with'),
      host_chap_secret: newChapSecret('Secret the array signs in to servers with, 12 to 16 characters'),
    },
    reply: response({}),
  }),
  listSessions: endpoint('GET', '/vcontrollers/{id}/sessions', {
    summary: 'List the sessions servers have with a controller',
    access: signedIn,
    params: { id: controllerId, ...page },
    reply: response({ sessions: listOf(Session), count }),
    errors: ['controller_not_found'],
  }),
  performance: performance('/vcontrollers/{id}/performance', {
    of: 'a controller',
    params: { id: controllerId, interval: requiredInterval },
    fields: { vcontroller_name: str(), usages: listOf(ControllerPoint) },
    errors: ['controller_not_found'],
  }),
  cachePerformance: performance('/vcontrollers/{id}/cache_performance', {
    of: 'how a controller serves from its cache',
    params: { id: controllerId, interval },
    fields: { zcache_name: str(), zcache_usages: listOf(CachePoint) },
    errors: ['controller_not_found'],
  }),
  cacheStats: performance('/vcontrollers/{id}/cache_stats', {
    of: "how full a controller's cache is",
    params: { id: controllerId, interval },
    fields: { zcache_name: str(), usages: listOf(CachePoint) },
    errors: ['controller_not_found'],
  }),
} satisfies Group;

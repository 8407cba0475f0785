import { formatUtc, type HostedInterface } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import manifest from '../package.json' with { type: 'json' };
import type { Controller, Controllers } from './service.ts';

export function controllerRoutes(controllers: Controllers): ArrayHandlers<'controllers'> {
  return {
    list: ({ start, limit }) => {
      const all = controllers.list();
      return { vcontrollers: pageOf(all, start, limit).map(viewOf), count: all.length };
    },
    listVirtualNetworks: ({ start, limit }) => {
      const all = controllers.networks();
      return { vnis: pageOf(all, start, limit).map(networkView), count: all.length };
    },
  };
}

function pageOf<T>(all: readonly T[], start: number, limit: number): T[] {
  return all.slice(start, limit === 0 ? undefined : start + limit);
}

function viewOf({ name, index, target, chapUser, chapSecret, heartbeats, configuration }: Controller) {
  return {
    name,
    display_name: name,
    index,
    state: 'active' as const,
    target,
    iscsi_ip: configuration.management.host,
    iscsi_ipv6: null,
    mgmt_ip: configuration.management.host,
    mgmt_ipv6: null,
    software_ver: manifest.version,
    heartbeat1: formatUtc(heartbeats.own),
    heartbeat2: formatUtc(heartbeats.cloud),
    array_chap_user: chapUser,
    array_chap_secret: chapSecret,
    sn_host: configuration.node,
    cache_size: configuration.cacheGb,
    allocation_zone_name: configuration.zone,
    allocation_zone_display_name: configuration.zoneDisplayName,
    array_uuid: configuration.uuid,
    integrity_status: 'normal',
    ...notYet,
  };
}

/** What this release has nothing of: no encryption, no alerts, no sharing over SMB, no Fibre Channel. */
const notYet = {
  host_chap_user: null,
  host_chap_secret: null,
  ike_psk: null,
  encryption_password_set: 'NO',
  is_encryption_active: 'NO',
  cpu_usage_alert: 0,
  mem_usage_alert: 0,
  cpu_docker_usage_alert: 0,
  mem_docker_usage_alert: 0,
  recycle_bin: 'NO',
  dm_concurrency_level: 0,
  nfs4_disable_idmapping: 'NO',
  raid_read_mode: '',
  smb_unix_charset: '',
  smb_dos_charset: '',
  sod_end_time: null,
  wwpn_count: 0,
  iser_support: 'NO',
} as const;

function networkView({ id, address, netmask, gateway, vlanId }: HostedInterface) {
  const isIpv6 = address.includes(':');
  return {
    id,
    ip: isIpv6 ? null : address,
    ipv6: isIpv6 ? address : null,
    gateway: isIpv6 ? null : gateway,
    ipv6_gateway: isIpv6 ? gateway : null,
    netmask: isIpv6 ? null : netmask,
    ipv6_netmask: isIpv6 ? netmask : null,
    vlan_id: vlanId,
    interface: `vni${id}`,
    net_uuid: null,
  };
}

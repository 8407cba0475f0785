import type { RecordOf } from '@granary/contract';
import type { Controller, ControllerVirtualNetwork } from '@granary/contract/array';
import {
  gigabytes,
  GB,
  ipv6AddressOf,
  type ControllerHome,
  type HostedConfiguration,
  type HostedInterface,
} from '@granary/kernel';
import type { ControllerReport } from '../engine/report.ts';
import manifest from '../package.json' with { type: 'json' };
import type { ArrayChap } from './chap.ts';
import type { ArraySettings } from '../settings/values.ts';

/** Three times as long as the slower of the two takes between signs. */
const SILENT_MS = 15_000;

export type ControllerView = RecordOf<typeof Controller>;

/** What both controllers have in common. */
export interface SharedFacts {
  readonly configuration: HostedConfiguration;
  readonly settings: ArraySettings;
  readonly chap: ArrayChap | undefined;
  /** Those who may not see them get empty ones. */
  readonly showsSecrets: boolean;
  readonly isPasswordSet: boolean;
  readonly isEncryptionActive: boolean;
  readonly isIntact: boolean;
  readonly wwpns: number;
  readonly cloudHeartbeatAt: number;
  readonly nowMs: number;
}

export function viewOf(report: ControllerReport, shared: SharedFacts): ControllerView {
  const { name, index, state, target, host } = report;
  const { configuration, settings } = shared;
  const managementHost = configuration.management.host;
  const home = homeOf(index, configuration);
  return {
    name,
    display_name: name,
    index,
    state,
    target,
    iscsi_ip: host,
    iscsi_ipv6: ipv6AddressOf(configuration),
    mgmt_ip: managementHost,
    mgmt_ipv6: ipv6AddressOf(configuration),
    software_ver: manifest.version,
    heartbeat1: signOfLife(report.heartbeatAt, shared.nowMs),
    heartbeat2: signOfLife(shared.cloudHeartbeatAt, shared.nowMs),
    ...chapView(shared),
    encryption_password_set: yesNo(shared.isPasswordSet),
    is_encryption_active: yesNo(shared.isEncryptionActive),
    sn_host: home.node,
    cache_size: gigabytes(configuration.cacheGb * GB),
    cpu_usage_alert: settings.cpuUsageAlert,
    mem_usage_alert: settings.memUsageAlert,
    recycle_bin: yesNo(settings.recycleBin),
    file_lifecycle: yesNo(configuration.fileLifecycle),
    dm_concurrency_level: settings.migrationsMax,
    raid_read_mode: settings.raidReadMode,
    allocation_zone_name: home.zone,
    allocation_zone_display_name: home.zoneDisplayName,
    array_uuid: configuration.uuid,
    wwpn_count: shared.wwpns,
    integrity_status: shared.isIntact ? 'normal' : 'degraded',
    ...constants,
  };
}

function chapView({ chap, showsSecrets }: SharedFacts) {
  const hostSecret = chap?.hostSecret ?? null;
  return {
    array_chap_user: chap?.user ?? '',
    array_chap_secret: chap && showsSecrets ? chap.secret : '',
    host_chap_user: chap?.hostUser ?? null,
    host_chap_secret: hostSecret === null || showsSecrets ? hostSecret : '',
  };
}

/** The first controller is counted where the array is, the second at the next node that has drives of it. */
function homeOf(index: number, configuration: HostedConfiguration): ControllerHome {
  const others = configuration.drives.filter(({ node }) => node !== configuration.node);
  return (index === 0 ? undefined : others[0]) ?? configuration;
}

/** So it is with every array: it has no IPsec, containers, SMB or iSER. */
const constants = {
  ike_psk: null,
  cpu_docker_usage_alert: 0,
  mem_docker_usage_alert: 0,
  nfs4_disable_idmapping: 'NO',
  smb_unix_charset: '',
  smb_dos_charset: '',
  sod_end_time: null,
  iser_support: 'NO',
} as const;

export function networkView(network: HostedInterface): RecordOf<typeof ControllerVirtualNetwork> {
  const { id, address, vlanId } = network;
  const isIpv6Only = address.includes(':');
  const ipv4 = isIpv6Only ? undefined : network;
  const ipv6 = isIpv6Only ? network : network.ipv6;
  return {
    id,
    ip: ipv4?.address ?? null,
    ipv6: ipv6?.address ?? null,
    gateway: ipv4?.gateway ?? null,
    ipv6_gateway: ipv6?.gateway ?? null,
    netmask: ipv4?.netmask ?? null,
    ipv6_netmask: ipv6?.netmask ?? null,
    vlan_id: vlanId,
    interface: `vni${id}`,
    net_uuid: null,
  };
}

/** The first sign is the controller's own, the second the cloud's. */
function signOfLife(lastMs: number, nowMs: number): 'ok' | 'lost' {
  return nowMs - lastMs < SILENT_MS ? 'ok' : 'lost';
}

function yesNo(is: boolean): 'YES' | 'NO' {
  return is ? 'YES' : 'NO';
}

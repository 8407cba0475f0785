import { fail, ipv6AddressOf, type HostedConfiguration } from '@granary/kernel';
import type { ControllerState } from '../engine/controller-spec.ts';
import type { ShownTimes } from '../inventory/service.ts';

/** All controllers listen on the address of the array, and the system spreads connections over them: one group. */
export const GROUP = 'lbg-1';
const VRID = 1;
const REGION_ID = 1;

/** The first that runs speaks for the group. */
export function masterOf(controllers: readonly ControllerState[]): string | null {
  return controllers.find(({ running }) => running)?.name ?? null;
}

export function refuseOtherGroups(name: string): void {
  if (name !== GROUP) throw fail('load_balancer_group_not_found', { id: name });
}

export function groupView(
  controllers: readonly ControllerState[],
  configuration: HostedConfiguration,
  times: ShownTimes,
) {
  const { management, zone, zoneDisplayName } = configuration;
  return {
    name: GROUP,
    vrid: VRID,
    ip_v4: management.host.includes(':') ? null : management.host,
    ip_v6: ipv6AddressOf(configuration),
    region_id: REGION_ID,
    allocation_zone: zone,
    allocation_zone_display_name: zoneDisplayName,
    vcs: controllers.map(({ name }) => name).join(','),
    master_vc: masterOf(controllers),
    ...times,
  };
}

import type { HostedConfiguration } from '@granary/kernel';
import type { ControllerState } from '../engine/controller-spec.ts';
import type { ShownTimes } from '../inventory/service.ts';
import { GROUP } from '../load-balancer-groups/service.ts';

const REGION_ID = 1;

/** `zoneId` counts the zones of the array from 1. */
export function controllerView(
  controller: ControllerState,
  master: string | null,
  { management, policies }: HostedConfiguration,
  zoneId: number,
  times: ShownTimes,
) {
  const { name, index, role, running } = controller;
  return {
    name,
    vc_index: index,
    storage_node: controller.node,
    role,
    vc_state: running ? 'OBJ_NORMAL' : 'OBJ_FAILED',
    proxy_state: running ? 'OBJ_NORMAL' : 'OBJ_FAILED',
    integrity: running ? 'normal' : 'failed',
    manager_role: name === master ? 'ring master' : 'ring slave',
    region_id: REGION_ID,
    zone_id: zoneId,
    policy_type: role === 'proxy' ? null : (policies[0]?.typeName ?? null),
    allocation_zone: controller.zone,
    allocation_zone_display_name: controller.zoneDisplayName,
    status: running ? 'created' : 'failed',
    fe_ip: management.host,
    fe_ipv6: null,
    // Controllers are threads of one process: nothing goes over a network among them.
    be_ip: null,
    lb_group_name: GROUP,
    lb_group_owner: master,
    lb_group_priority: name === master ? 100 : 50,
    lb_group_configured: 'YES' as const,
    lb_state: name === master ? 'master' : 'backup',
    ...times,
  };
}

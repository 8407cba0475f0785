import { ipv6AddressOf, type HostedConfiguration } from '@granary/kernel';
import type { ControllerState } from '../engine/controller-spec.ts';
import type { ShownTimes } from '../inventory/service.ts';
import { UNKNOWN_ZONE } from '../drives/service.ts';
import { GROUP } from '../load-balancer-groups/service.ts';

const REGION_ID = 1;

export function controllerView(
  controller: ControllerState,
  master: string | null,
  configuration: HostedConfiguration,
  times: ShownTimes,
) {
  const { name, index, role, running } = controller;
  const { management, policies } = configuration;
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
    zone_id: configuration.zoneIds[controller.zone] ?? UNKNOWN_ZONE,
    policy_type: role === 'proxy' ? null : (policies[0]?.typeName ?? null),
    allocation_zone: controller.zone,
    allocation_zone_display_name: controller.zoneDisplayName,
    status: running ? 'created' : 'failed',
    fe_ip: management.host,
    fe_ipv6: ipv6AddressOf(configuration),
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

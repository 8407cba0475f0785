import { columns, derived, ifAny, type ColumnsByRecord } from './column.ts';

type Fields = Readonly<Record<string, unknown>>;

const times = ['created=created_at', 'changed=modified_at'];

/** Lists of object storage. */
export const objectsColumns: ColumnsByRecord = {
  Account: columns(
    ['name', 'enabled', 'state', 'created=create_time', 'id'],
    ['email', 'description', 'system=is_system_account', 'url=public_url_list', 'changed=update_time'],
  ),
  AccountUser: columns(
    ['name', 'roles=role_list', 'enabled', 'created=create_time', 'id'],
    ['account=account_name', 'system=is_system_user', 'changed=update_time'],
  ),
  User: columns(
    [
      'name=username',
      derived('account=objs_data', (user) => storageUser(user)['account_name']),
      'roles',
      'email',
      'locked',
      derived('id=objs_data', (user) => storageUser(user)['id']),
    ],
    ['primary', 'admin', 'timezone=display_timezone', 'number=id'],
  ),
  AccountRequest: columns([
    'id',
    'action',
    'arguments',
    'asked=requested_at',
    'decided by=decided_by',
    'decided=decided_at',
  ]),
  S3Credentials: columns(['access', 'secret', 'user=user_id', 'account=account_id']),
  Role: columns(['id', 'name']),
  Drive: columns(
    [
      'name=display_name',
      'size=capacity',
      'type=disk_type',
      'state=status',
      'policy=storage_policy',
      'degraded=partition_count_degraded',
      'critical=partition_count_critical',
      'node=storage_node',
    ],
    ['id=name', 'zone=allocation_zone_display_name', 'controller=vc', 'uuid=disk_uuid', ...times],
  ),
  ServedDrive: columns(
    [
      'name=display_name',
      'size=total_capacity',
      'used=used_capacity',
      'free=avail_capacity',
      'state=status',
      'policy=storage_policy',
      'node=storage_node',
    ],
    ['id=name', 'type=disk_type', 'zone=allocation_zone_display_name', 'controller=vc', 'uuid=disk_uuid', ...times],
  ),
  VirtualController: columns(
    [
      'index=vc_index',
      'name',
      'role',
      'state=vc_state',
      'address=fe_ip',
      'zone=allocation_zone_display_name',
      'group=lb_group_name',
      'balancing=lb_state',
    ],
    ['proxy=proxy_state', 'integrity', 'rings=manager_role', 'node=storage_node', 'policy=policy_type', ...times],
  ),
  LoadBalancerGroup: columns(
    ['name', 'address=ip_v4', 'master=master_vc', 'controllers=vcs', 'zone=allocation_zone_display_name'],
    ['vrid', 'ipv6=ip_v6', 'region=region_id', ...times],
  ),
  StoragePolicy: columns(
    [
      'name=display_name',
      'default',
      'health=health_status',
      'size=capacity',
      'capacity mode=capacity_mode',
      'drives=total_drives',
      'protection=short_description',
      'degraded=partition_count_degraded',
      'critical=partition_count_critical',
      'id=name',
    ],
    [
      'state',
      'rebalance=rebalance_status',
      'rebalanced %=rebalance_percentage',
      'system',
      'USD a GB and month=gb_per_month_cost',
      ...times,
    ],
  ),
  Destination: columns(
    ['name=display_name', 'state', 'endpoint', 'region', 'jobs=job_count', 'id=ext_name'],
    ['type', 'access key=access', 'network', ...times],
  ),
  DestinationGrant: columns(['account=account_name', ifAny('prefix'), 'account id=account_id']),
  AccessLogEntry: columns(['time=created', 'user', 'action', 'controller', 'params'], ['id']),
  EventMessage: columns(['time=msg_time', 'severity=msg_severity', 'event=msg_title'], ['id=msg_id']),
  IopsPoint: columns(['time', 'put=iops_put', 'get=iops_get', 'delete=iops_delete']),
  LatencyPoint: columns(['time', 'put=latency_put', 'get=latency_get', 'delete=latency_delete']),
  ThroughputPoint: columns(['time', 'put=throughput_put', 'get=throughput_get', 'delete=throughput_delete']),
};

function storageUser(user: Fields): Fields {
  return ((user['objs_data'] as Fields | undefined)?.['objs_user'] as Fields | undefined) ?? {};
}

import { columns, derived, ifAny, named, type ColumnsByRecord } from './column.ts';

type Fields = Readonly<Record<string, unknown>>;

const keys = (field: string) => (record: Fields) =>
  (record[field] as readonly Fields[] | undefined)?.map(({ key }) => key);

/** Lists of the portal. */
export const portalColumns: ColumnsByRecord = {
  User: columns(
    ['id', 'name=username', 'role', 'email', 'enabled', 'locked', 'approved by itself=auto_approved'],
    ['created=created_at', 'changed=updated_at'],
  ),
  Cloud: columns(
    [
      'id',
      'name',
      'enabled',
      derived('drives=drive_types', keys('drive_types')),
      derived('engines=engine_types', keys('engine_types')),
      'fewest drives=minimum_drives',
    ],
    [
      derived('zones', ({ zones }) =>
        (zones as readonly Fields[] | undefined)?.map((zone) => zone['allocation_zone_name']),
      ),
      'uuid',
    ],
  ),
  RecoveredArray: columns(['id', 'name', 'owner', 'note']),
  DriveType: columns(
    ['id', 'name', 'key', 'size=capacity_gb', 'USD an hour=hourly_price_usd', 'enabled'],
    ['shown size=display_capacity_gb', 'cache', 'order'],
  ),
  Provider: columns(
    ['id', 'name', 'key', named('cloud=cloud_id', 'clouds', 'id', 'name'), 'enabled', 'hidden'],
    ['group=provider_group_id'],
  ),
  ProviderGroup: columns(['id', 'name']),
  ListedArray: columns(
    [
      'id',
      'name',
      'status',
      ifAny('message=status_message'),
      'kind=product',
      'engine',
      'drives',
      'address=management_url',
      ifAny('deleted for good=undelete_until'),
    ],
    [
      'description',
      'provider',
      'zones=allocation_zones',
      'policies=storage_policies',
      'cache',
      'internal name=internal_name',
      'created=time_created_gmt',
      'locked down=locked_down',
    ],
  ),
  ArrayRequest: columns(
    [
      'id',
      'array=name',
      'kind',
      'status',
      named('user=user_id', 'users', 'id', 'username'),
      'asked=created_at',
      'decided by=decided_by',
      ifAny('reason'),
    ],
    ['array id=array_id', 'arguments', 'decided=decided_at'],
  ),
  CompatibleInterface: columns(['name', 'vlan', 'network=cidr', 'netmask', 'gateway'], ['id=custom_network_id']),
  ObjectAccount: columns(
    ['id', 'name=account_name', 'status', 'used=used_capacity', 'buckets=containers_count', 'objects=objects_count'],
    [
      named('user=user_id', 'users', 'id', 'username'),
      'array=array_id',
      'request=objs_request_id',
      'created=created_at',
    ],
  ),
  Tenant: columns(
    ['id', 'name', 'user=username', named('provider=provider_id', 'providers', 'id', 'name')],
    ['internal id=internal_id'],
  ),
  Vlan: columns(
    [
      'vlan=vlan_id',
      'default',
      named('provider=provider_id', 'providers', 'id', 'name'),
      'networks=custom_networks',
      'arrays',
    ],
    ['cloud=cloud_id'],
  ),
  VirtualNetwork: columns([
    'id',
    'name',
    'vlan=vlan_id',
    named('provider=provider_id', 'providers', 'id', 'name'),
    named('tenant=tenant_id', 'tenants', 'id', 'name'),
  ]),
  PortalEvent: columns(['time=msg_time', 'severity=msg_severity', 'event=msg_title'], ['id=msg_id']),
};

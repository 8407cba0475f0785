import { columns, derived, ifAny, named, type ColumnsByRecord } from './column.ts';

const times = ['created=created_at', 'changed=modified_at'];
const attachedTo = named('attached to=server_ext_names', 'servers');

/** Lists of one storage array. */
export const arrayColumns: ColumnsByRecord = {
  Volume: columns(
    [
      'name=display_name',
      'size=virtual_capacity',
      'used=allocated_capacity',
      'pool=pool_display_name',
      'state=status',
      attachedTo,
      ifAny('path=nfs_export_path'),
      'id=name',
    ],
    [
      'kind=data_type',
      'lun',
      'snapshots=has_snapshots',
      'mirrored=has_mirror',
      'snapshot space=data_copies_capacity',
      'capacity mode=capacity_mode',
      'encrypted=encryption',
      'group=cg_name',
      'comment',
      ...times,
    ],
  ),
  FreeVolume: columns(
    ['name=display_name', 'size=virtual_capacity', 'pool=pool_display_name', 'state=status', 'id=name'],
    ['kind=data_type', 'snapshots=has_snapshots', 'group=cg_name', 'comment', ...times],
  ),
  Drive: columns(
    [
      'name=display_name',
      'size=capacity',
      'type=disk_type',
      'state=status',
      'used for=usage',
      named('raid group=raid_group_name', 'raidGroups'),
      'node=storage_node',
    ],
    ['id=name', 'kind=allocation_group', 'zone=allocation_zone_display_name', 'cache', 'uuid=disk_uuid', ...times],
  ),
  RaidGroup: columns(
    [
      'name=display_name',
      'level=protection',
      'size=capacity',
      'free=available',
      'state=status',
      'drives=protection_width',
      'id=name',
    ],
    ['ssd', 'stripe=stripe_size', 'mismatches=mismatch_count', 'resync=resync_speed', ...times],
  ),
  Pool: columns(
    [
      'name=display_name',
      'size=capacity',
      derived('used=available_capacity', usedOfPool),
      'free=available_capacity',
      'provisioned=provisioned_capacity',
      'state=status',
      'capacity mode=capacity_mode',
      named('raid groups=raid_group_name', 'raidGroups'),
      'id=name',
    ],
    [
      'type',
      'cache',
      'stripe=stripe_size',
      'minutes to alert=alert_mode',
      'minutes to protect=protected_mode',
      ...times,
    ],
  ),
  Server: columns(
    ['name=display_name', 'state=status', 'initiator=iqn', 'address=iscsi_ip', 'os', 'id=name'],
    ['last checked=last_check_time', 'ipsec=ipsec_iscsi', 'registered', ...times],
  ),
  VolumeServer: columns(
    [
      'name=display_name',
      'state=status',
      'access=access_type',
      'lun',
      'read only=read_only',
      'initiator=iqn',
      'id=name',
    ],
    ['address=iscsi_ip', 'target', 'os', 'last checked=last_check_time', ...times],
  ),
  Snapshot: columns(
    [
      'name=display_name',
      'volume=volume_display_name',
      'size=volume_capacity_mb',
      'state=status',
      'created=created_at',
      'id=name',
    ],
    ['group=cg_name', named('pool=pool_name', 'pools'), 'changed=modified_at'],
  ),
  SnapshotPolicy: columns(
    ['name=display_name', 'takes=create_policy', 'keeps=delete_policy', 'paused', 'id=name'],
    [
      'keeps there=destination_delete_policy',
      'takes empty=create_empty',
      'type',
      'destination',
      'rule=snapshot_rule',
      ...times,
    ],
  ),
  MirrorJob: columns(
    [
      'name=job_display_name',
      'state=status',
      'source=src',
      'destination=dst',
      'rpo',
      'KB/s=avg_sync_rate_kb_sec',
      'id=job_name',
    ],
    ['wan optimization=wan_optimization', ...times],
  ),
  RemoteArray: columns(
    ['name=remote_display_name', 'address=ip', 'version=software_version', 'id=name'],
    ['name there=remote_name', 'provider', 'public', 'network=vni', 'uuid'],
  ),
  RemotePool: columns(
    ['name=display_name', 'size=capacity', 'free=available_capacity', 'id=name'],
    ['name there=remote_name'],
  ),
  User: columns(['name=username', 'role', 'email', 'created=created_at', 'id']),
  Session: columns(
    ['server=server_display_name', 'access=access_type', 'initiator', 'controller=vc'],
    ['target', 'count'],
  ),
  ServerSession: columns(
    ['server=server_display_name', 'access=access_type', 'initiator', 'connected', 'controller=vc'],
    ['target', 'count'],
  ),
  Controller: columns(
    [
      'name=display_name',
      'state',
      'node=sn_host',
      'address=mgmt_ip',
      'data address=iscsi_ip',
      'cache=cache_size',
      'version=software_ver',
      'id=name',
    ],
    [
      'integrity=integrity_status',
      'target',
      'encryption=is_encryption_active',
      'zone=allocation_zone_display_name',
      'uuid=array_uuid',
    ],
  ),
  ControllerVirtualNetwork: columns([
    'interface',
    'address=ip',
    'netmask',
    'gateway',
    'vlan=vlan_id',
    ifAny('ipv6'),
    'id',
  ]),
  Message: columns(['time=msg_time', 'severity=msg_severity', 'event=msg_title'], ['id=msg_id']),
  IoPoint: columns(
    [
      'time=point',
      'reads/s=rd_iops',
      'writes/s=wrt_iops',
      'read=rd_bandwidth',
      'written=wrt_bandwidth',
      'read ms=rd_iotime',
      'write ms=wrt_iotime',
    ],
    ['read queue=rd_queue_len', 'write queue=wrt_queue_len'],
  ),
  ControllerPoint: columns(
    [
      'time=point',
      'user %=cpu_user',
      'system %=cpu_system',
      'waiting %=cpu_iowait',
      'idle %=cpu_idle',
      'memory=mem_alloc',
      'read GB=gb_rd',
      'written GB=gb_wrt',
    ],
    ['dirty data=zcache_data_dirty', 'dirty metadata=zcache_meta_dirty'],
  ),
  CachePoint: columns(
    [
      'time=point',
      'data hits=zcache_data_read_hit',
      'metadata hits=zcache_meta_read_hit',
      'clean data=zcache_data_clean',
      'dirty data=zcache_data_dirty',
    ],
    ['clean metadata=zcache_meta_clean', 'dirty metadata=zcache_meta_dirty'],
  ),
  Tag: columns(['key', 'value'], ['of=name']),
  Quota: columns(
    ['of=source_id_display', 'kind=source_type', 'used=usage', 'soft', 'hard'],
    ['id=source_id', 'protocol=nas_type'],
  ),
  QuotaProject: columns(['name=display_name', 'directories', 'id=name'], ['number=id', 'volume=volume_id', ...times]),
  NasUser: columns(['name=username', 'uid=nfs_uid', 'group=groupname', 'groups', 'smb'], times),
  NasGroup: columns(['name=groupname', 'gid=nfs_gid', 'smb'], times),
  FileRestore: columns(
    [
      'path',
      'to=to_path',
      'state=status',
      ifAny('problem'),
      named('snapshot=snapshot_name', 'snapshots'),
      'started=created_at',
    ],
    ['id=name', named('volume=volume_name', 'volumes')],
  ),
  FileCategory: columns([
    'name=category_name',
    'extensions=extension',
    'count=extensions_count',
    'id=category_ext_name',
  ]),
  LifecyclePolicy: columns(
    ['name=display_name', 'enabled', 'dry run=dry_run_mode', 'action', 'id=name'],
    [
      'recycle bin=use_recycle_bin',
      'criteria=file_selection_criteria',
      'only=whitelist_paths',
      'not=blacklist_paths',
      ...times,
    ],
  ),
  LifecycleRule: columns(
    [
      'volume=volume_display_name',
      'policy=policy_display_name',
      'paused',
      'last run=last_run_at',
      'files=handled_files',
      'bytes=handled_bytes',
      ifAny('problem=last_run_problem'),
      'id=name',
    ],
    ['matched=matched_files', 'failed=failed_files', 'changed files=changed_files', 'dry=last_run_dry', ...times],
  ),
  ObjectStorageDestination: columns(
    ['name=display_name', 'type', 'bucket', 'endpoint', 'user=username', 'id=name'],
    ['route=connect_via', 'lifecycle=allow_lifecycle_policies', 'proxy=proxy_host', ...times],
  ),
};

/** What is not free; both figures are cut, so that their difference may be a little below zero. */
function usedOfPool({ capacity, available_capacity: free }: Readonly<Record<string, unknown>>): number {
  return Math.max(0, Number(capacity) - Number(free));
}

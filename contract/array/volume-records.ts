import { int, iso, nullable, num, oneOf, record, str, yesNo } from '../records.ts';

/** Of a share only: null on a block volume. */
const shareFlag = nullable(yesNo());
const onOff = oneOf('on', 'off');
const alertLimit = str('Alert above this; 0 is none');
const capping = str('Never above this; 0 is no cap');

/** Of `Volume` and of `FreeVolume`. */
const identity = {
  name: str(),
  display_name: str(),
  cg_name: str('Its consistency group, which snapshots, clones and migrations name'),
  cg_display_name: str(),
  cg_user_created: yesNo(),
  pool_name: str(),
  pool_display_name: str(),
  tenant_id: nullable(int()),
  status: oneOf('Creating', 'Available', 'In-use', 'Migrating', 'Restoring', 'Deleting', 'Locked'),
  comment: nullable(str()),
  created_at: iso(),
  modified_at: iso(),
};

const virtualCapacity = { virtual_capacity: num('GB a server sees') };

const capacities = {
  provisioned_capacity: num('GB'),
  total_capacity: num('GB'),
  available_capacity: num('GB'),
  allocated_capacity: num('GB written'),
  data_copies_capacity: num('GB of snapshots'),
  num_of_filesystem_objects: nullable(int()),
  capacity_mode: oneOf('normal', 'alert', 'protected', 'emergency'),
  capacity_history: int('Minutes the consumption rate is taken over'),
  alert_mode: int('Minutes before it is full'),
  emergency_mode_mb: int('MB left'),
  auto_expand_on_emergency: yesNo(),
  auto_expand_by: nullable(num('GB')),
  max_capacity: nullable(num('GB it may expand to')),
  thresholds: nullable(str('JSON text of the latency limits, which have no field of their own')),
};

const kind = {
  data_type: oneOf('BLOCK', 'File-System'),
  thin: yesNo(),
  encryption: yesNo(),
  encryption_key_size: str('Bits; 0 when not encrypted'),
  access_type: nullable(oneOf('NFS', 'SMB', 'ISCSI')),
  read_only: nullable(yesNo()),
  target: nullable(str('IQN to log in to')),
  lun: nullable(int()),
  cache: nullable(yesNo()),
  server_name: nullable(str()),
  server_ext_names: str('Comma list of the servers it is attached to; empty when free'),
  life_cycle_policy_display_name: nullable(str()),
  life_cycle_policy_ext_name: nullable(str()),
  flc_policy_name: nullable(str()),
};

const fileOptions = {
  nfs_export_path: nullable(str('host:/path to mount')),
  smb_export_path: nullable(str()),
  additional_smb_export_paths_count: int(),
  mount_sync: shareFlag,
  atime_update: shareFlag,
  read_ahead_kb: nullable(str()),
  ext_metering: shareFlag,
  images_repo: shareFlag,
  flc_db: shareFlag,
  audit_repo: shareFlag,
  audit_enable: shareFlag,
  nfs_root_squash: shareFlag,
  nfs_all_squash: shareFlag,
  nfs_anon_uid: nullable(int()),
  nfs_anon_gid: nullable(int()),
  smb_only: shareFlag,
  smb_guest: shareFlag,
  smb_windows_acl: shareFlag,
  smb_map_archive: shareFlag,
  smb_file_create_mask: nullable(str()),
  smb_dir_create_mask: nullable(str()),
  smb_aio_size: nullable(int()),
  smb_browseable: shareFlag,
  smb_hidden_files: nullable(str()),
  smb_encryption_mode: nullable(oneOf('off', 'desired', 'required')),
  smb_case_sensitive: nullable(oneOf('YES', 'NO', 'AUTO')),
  smb_mangled_names: nullable(oneOf('YES', 'NO', 'ILLEGAL')),
  smb_hide_unreadable: shareFlag,
  smb_hide_unwriteable: shareFlag,
  smb_hide_dot_files: shareFlag,
  smb_store_dos_attributes: shareFlag,
  smb_enable_oplocks: shareFlag,
};

const state = {
  uquota_state: onOff,
  gquota_state: onOff,
  pquota_state: onOff,
  has_mirror: yesNo(),
  has_backup: yesNo(),
  is_remote_clone_source: yesNo(),
  has_snapshots: yesNo(),
  shadow_copy_enabled: yesNo(),
  is_shadow_copy_clone: yesNo(),
  mtr_histograms: yesNo(),
  compress: yesNo(),
  dedupe: yesNo(),
  flc_state: nullable(str()),
  flc_scan_state: nullable(str()),
  flc_scan_progress: nullable(int('Percent')),
  flc_scan_remaining_time_seconds: nullable(int()),
};

const limits = {
  read_iops_limit: alertLimit,
  read_mbps_limit: alertLimit,
  write_iops_limit: alertLimit,
  write_mbps_limit: alertLimit,
  read_iops_capping: capping,
  read_mbps_capping: capping,
  write_iops_capping: capping,
  write_mbps_capping: capping,
};

/** A block volume or a file share. */
export const Volume = record('Volume', {
  ...identity,
  pool_version: int(),
  ...virtualCapacity,
  ...capacities,
  ...kind,
  ...fileOptions,
  ...state,
  ...limits,
});

/** What the list of free volumes carries: no detail of capacity, no file options. */
export const FreeVolume = record('FreeVolume', {
  ...identity,
  ...virtualCapacity,
  ...kind,
  export_name: nullable(str()),
  ...state,
  ...limits,
});

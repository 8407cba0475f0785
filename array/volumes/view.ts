import type { RecordOf } from '@granary/contract';
import { FreeVolume, type Volume } from '@granary/contract/array';
import { formatIso, gigabytes, MB, usedAsRecorded, type Bytes } from '@granary/kernel';
import type { VolumeReport } from '../engine/report.ts';
import { shareView, type LifecycleFacts } from '../shares/view.ts';
import type { VolumeFacts } from './volume.ts';

export type VolumeView = RecordOf<typeof Volume>;
export type FreeVolumeView = RecordOf<typeof FreeVolume>;

/** Where servers find volumes and shares: at the controller that serves. */
export interface Place {
  readonly target: string | null;
  readonly host: string | null;
}

/** What is known of a volume beside its record. */
export interface VolumeSurroundings {
  readonly report: VolumeReport | undefined;
  /** Of its pool: what a byte of a chunk takes there. */
  readonly chunkShare: number;
  readonly place: Place;
  /** Whom the array belongs to at the portal. */
  readonly tenant: number | null;
  /** Of a share that is scanned for file lifecycle policies. */
  readonly lifecycle: LifecycleFacts | undefined;
}

const KEY_BITS = '256';
const FREE_FIELDS = Object.keys(FreeVolume.properties);

export function volumeView(facts: VolumeFacts, around: VolumeSurroundings): VolumeView {
  const view = blockView(facts, around);
  if (!facts.share) return view;
  return { ...view, ...shareView(facts.share, facts, around) };
}

/**
 * One literal, field by field: lists of thousands are made of these, and an object that grows by spreading costs
 * several times as much. File options are null, because a block volume has none.
 */
function blockView(facts: VolumeFacts, { report, place, tenant, chunkShare }: VolumeSurroundings): VolumeView {
  const size = gigabytes(facts.sizeBytes);
  // All it reads from: what snapshots hold is part of it until it is overwritten. It cannot show more than its size.
  const { ownBytes = 0, sharedBytes = 0, snapshotBytes = 0 } = report ?? {};
  const available = gigabytes(Math.max(0, facts.sizeBytes - ownBytes - sharedBytes - snapshotBytes));
  const held = heldBytes(report, chunkShare);
  return {
    name: facts.name,
    display_name: facts.displayName,
    cg_name: facts.consistencyGroup,
    cg_display_name: facts.displayName,
    cg_user_created: 'NO',
    pool_name: facts.pool,
    pool_display_name: facts.poolDisplayName ?? facts.pool,
    tenant_id: tenant,
    status: statusOf(facts, report),
    comment: facts.comment,
    created_at: formatIso(facts.createdAt),
    modified_at: formatIso(facts.modifiedAt),
    pool_version: facts.poolVersion ?? 1,
    virtual_capacity: size,
    provisioned_capacity: size,
    total_capacity: size,
    available_capacity: available,
    // A megabyte that is begun counts, because what is available is cut.
    allocated_capacity: gigabytes(usedAsRecorded(held.all)),
    data_copies_capacity: gigabytes(held.snapshots),
    num_of_filesystem_objects: null,
    capacity_mode: facts.capacityMode,
    capacity_history: facts.historyMinutes,
    alert_mode: facts.alertMinutes,
    emergency_mode_mb: facts.emergencyBytes / MB,
    auto_expand_on_emergency: yesNo(facts.expandsItself),
    auto_expand_by: gigabytesOf(facts.expandByBytes),
    max_capacity: gigabytesOf(facts.maxBytes),
    thresholds: thresholdsOf(facts),
    data_type: 'BLOCK',
    thin: 'YES',
    encryption: yesNo(facts.wrappedKey !== null),
    encryption_key_size: facts.wrappedKey === null ? '0' : KEY_BITS,
    access_type: facts.accessType,
    read_only: facts.isReadOnly === null ? null : yesNo(facts.isReadOnly),
    target: facts.firstServer === null ? null : place.target,
    lun: facts.lun,
    cache: facts.poolCache === null ? null : yesNo(facts.poolCache),
    server_name: facts.firstServer,
    server_ext_names: facts.serverNames ?? '',
    life_cycle_policy_display_name: null,
    life_cycle_policy_ext_name: null,
    flc_policy_name: null,
    nfs_export_path: null,
    smb_export_path: null,
    additional_smb_export_paths_count: 0,
    mount_sync: null,
    atime_update: null,
    read_ahead_kb: null,
    ext_metering: null,
    images_repo: null,
    flc_db: null,
    audit_repo: null,
    audit_enable: null,
    nfs_root_squash: null,
    nfs_all_squash: null,
    nfs_anon_uid: null,
    nfs_anon_gid: null,
    smb_only: null,
    smb_guest: null,
    smb_windows_acl: null,
    smb_map_archive: null,
    smb_file_create_mask: null,
    smb_dir_create_mask: null,
    smb_aio_size: null,
    smb_browseable: null,
    smb_hidden_files: null,
    smb_encryption_mode: null,
    smb_case_sensitive: null,
    smb_mangled_names: null,
    smb_hide_unreadable: null,
    smb_hide_unwriteable: null,
    smb_hide_dot_files: null,
    smb_store_dos_attributes: null,
    smb_enable_oplocks: null,
    uquota_state: 'off',
    gquota_state: 'off',
    pquota_state: 'off',
    has_mirror: yesNo(facts.isMirrored),
    has_backup: 'NO',
    is_remote_clone_source: 'NO',
    has_snapshots: yesNo(facts.hasSnapshots),
    shadow_copy_enabled: 'NO',
    is_shadow_copy_clone: yesNo(facts.isShadowCopy),
    mtr_histograms: yesNo(facts.countsSizes),
    compress: yesNo(facts.compress),
    dedupe: yesNo(facts.dedupe),
    flc_state: null,
    flc_scan_state: null,
    flc_scan_progress: null,
    flc_scan_remaining_time_seconds: null,
    read_iops_limit: String(facts.readIopsLimit),
    read_mbps_limit: String(facts.readMbpsLimit),
    write_iops_limit: String(facts.writeIopsLimit),
    write_mbps_limit: String(facts.writeMbpsLimit),
    read_iops_capping: String(facts.readIopsCap),
    read_mbps_capping: String(facts.readMbpsCap),
    write_iops_capping: String(facts.writeIopsCap),
    write_mbps_capping: String(facts.writeMbpsCap),
  };
}

/** The same record with fewer fields. */
export function freeVolumeView(facts: VolumeFacts, around: VolumeSurroundings): FreeVolumeView {
  const exportName = facts.share?.exportNames[0] ?? null;
  const whole: Readonly<Record<string, unknown>> = { ...volumeView(facts, around), export_name: exportName };
  return Object.fromEntries(FREE_FIELDS.map((field) => [field, whole[field]])) as unknown as FreeVolumeView;
}

/** Places of the pool, over all its volumes each once: of all it keeps, and of its snapshots. */
function heldBytes(report: VolumeReport | undefined, chunkShare: number): { all: number; snapshots: number } {
  const { held, ownBytes = 0, snapshotBytes = 0 } = report ?? {};
  if (!held) return { all: ownBytes + snapshotBytes, snapshots: snapshotBytes };
  const [own, snapshots] = [held.own, held.snapshots].map(
    ({ plainBytes, chunkBytes }) => plainBytes + chunkBytes * chunkShare,
  ) as [number, number];
  return { all: own + snapshots, snapshots };
}

function statusOf(facts: VolumeFacts, report: VolumeReport | undefined): VolumeView['status'] {
  if (facts.state === 'creating') return 'Creating';
  if (facts.state === 'deleting') return 'Deleting';
  if (facts.migration !== null) return 'Migrating';
  if (facts.restoring !== null) return 'Restoring';
  if (facts.wrappedKey !== null && report?.isLocked === true) return 'Locked';
  return facts.firstServer === null ? 'Available' : 'In-use';
}

/** The latency limits have no field of their own. */
function thresholdsOf({ readLatencyLimit, writeLatencyLimit }: VolumeFacts): string | null {
  if (readLatencyLimit === 0 && writeLatencyLimit === 0) return null;
  return JSON.stringify({ read_latency_limit: readLatencyLimit, write_latency_limit: writeLatencyLimit });
}

function gigabytesOf(size: Bytes | null): number | null {
  return size === null ? null : gigabytes(size);
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}

import type { RecordOf } from '@granary/contract';
import type { Volume } from '@granary/contract/array';
import { gigabytes, type Bytes } from '@granary/kernel';
import type { VolumeReport } from '../engine/report.ts';
import { anonymousIds } from './options.ts';
import type { Share } from './repository.ts';

type VolumeView = RecordOf<typeof Volume>;

/** How a share stands with file lifecycle, as its record shows it. */
export type LifecycleFacts = Pick<
  VolumeView,
  | 'life_cycle_policy_display_name'
  | 'life_cycle_policy_ext_name'
  | 'flc_policy_name'
  | 'flc_state'
  | 'flc_scan_state'
  | 'flc_scan_progress'
  | 'flc_scan_remaining_time_seconds'
>;

interface ShareSurroundings {
  readonly report: VolumeReport | undefined;
  readonly place: { readonly host: string | null };
  readonly lifecycle: LifecycleFacts | undefined;
}

/** The fields in which the record of a share differs from that of a block volume. */
export function shareView(
  { options, exportNames }: Share,
  { sizeBytes }: { readonly sizeBytes: Bytes },
  { report, place, lifecycle }: ShareSurroundings,
): Partial<VolumeView> {
  const figures = report?.share ?? undefined;
  const [primary = '', ...others] = exportNames;
  const { uid, gid } = anonymousIds(options);
  return {
    data_type: 'File-System',
    target: null,
    ...(figures && {
      num_of_filesystem_objects: figures.files,
      available_capacity: gigabytes(figures.availableBytes),
      allocated_capacity: gigabytes(sizeBytes) - gigabytes(figures.availableBytes),
      uquota_state: onOff(figures.quotas.user),
      gquota_state: onOff(figures.quotas.group),
      pquota_state: onOff(figures.quotas.project),
    }),
    nfs_export_path: options.isSmbOnly || place.host === null ? null : `${bracketed(place.host)}:/export/${primary}`,
    smb_export_path: place.host === null ? null : `\\\\${place.host}\\${primary}`,
    additional_smb_export_paths_count: others.length,
    mount_sync: yesNo(options.syncsWrites),
    atime_update: yesNo(options.updatesAccessTimes),
    read_ahead_kb: String(options.readAheadKb),
    // Shares that hold something for the array itself; there are none.
    ext_metering: 'NO',
    images_repo: 'NO',
    flc_db: 'NO',
    audit_repo: 'NO',
    audit_enable: yesNo(options.isAudited),
    nfs_root_squash: yesNo(options.squashesRoot),
    nfs_all_squash: yesNo(options.squashesAll),
    nfs_anon_uid: uid,
    nfs_anon_gid: gid,
    smb_only: yesNo(options.isSmbOnly),
    smb_guest: yesNo(options.admitsGuests),
    smb_windows_acl: yesNo(options.keepsWindowsAcls),
    smb_map_archive: yesNo(options.mapsArchive),
    smb_file_create_mask: options.fileCreateMask,
    smb_dir_create_mask: options.directoryCreateMask,
    smb_aio_size: 0,
    smb_browseable: yesNo(options.isBrowseable),
    smb_hidden_files: options.hiddenFiles,
    smb_encryption_mode: options.smbEncryption,
    smb_case_sensitive: options.caseSensitive,
    smb_mangled_names: options.mangledNames,
    smb_hide_unreadable: yesNo(options.hidesUnreadable),
    smb_hide_unwriteable: yesNo(options.hidesUnwriteable),
    smb_hide_dot_files: yesNo(options.hidesDotFiles),
    smb_store_dos_attributes: yesNo(options.keepsDosAttributes),
    smb_enable_oplocks: yesNo(options.grantsOplocks),
    ...lifecycle,
  };
}

/** As mount commands take an IPv6 address before a colon. */
function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}

function onOff(value: boolean): 'on' | 'off' {
  return value ? 'on' : 'off';
}

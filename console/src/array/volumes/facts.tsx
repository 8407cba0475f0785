import { gigabytes, words } from '../../parts/format.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Copy, Facts, Fill, State, Time } from '../../parts/small.tsx';
import { isShare, type Volume } from '../records.ts';
import { OPTION_NAMES } from './option-names.ts';

export function VolumeFacts({ volume }: { readonly volume: Volume }) {
  return (
    <Facts
      of={[
        ['State', <State key="state" of={volume.status} />],
        ['Written', <Fill key="fill" used={volume.allocated_capacity} size={volume.virtual_capacity} />],
        ['Size', gigabytes(volume.virtual_capacity)],
        ['Used by snapshots', gigabytes(volume.data_copies_capacity)],
        [
          'Pool',
          <PageLink key="pool" to={`/pools/${volume.pool_name}`}>
            {volume.pool_display_name}
          </PageLink>,
        ],
        ['Capacity state', <State key="mode" of={volume.capacity_mode} />],
        ...(isShare(volume)
          ? [['NFS export', <Copied key="nfs" text={volume.nfs_export_path} />] as const]
          : [['iSCSI target', <Copied key="iqn" text={volume.target} />] as const]),
        ['Encrypted', volume.encryption === 'YES' ? `yes, ${volume.encryption_key_size} bits` : 'no'],
        ['Data reduction', reductionOf(volume)],
        ['Mirrored', volume.has_mirror === 'YES' ? 'yes' : 'no'],
        ['Identifier', volume.name],
        ['Consistency group', volume.cg_name],
        ['Created', <Time key="made" at={volume.created_at} />],
      ]}
    />
  );
}

function Copied({ text }: { readonly text: string | null }) {
  if (text === null) return <>–</>;
  return (
    <>
      {text} <Copy text={text} />
    </>
  );
}

function reductionOf({ dedupe, compress }: Volume): string {
  const all = [dedupe === 'YES' && 'deduplicated', compress === 'YES' && 'compressed'].filter(Boolean);
  return all.length === 0 ? 'no' : all.join(', ');
}

const SHARE_OPTIONS = [
  'mount_sync',
  'atime_update',
  'read_ahead_kb',
  'nfs_root_squash',
  'nfs_all_squash',
  'nfs_anon_uid',
  'nfs_anon_gid',
  'audit_enable',
  'uquota_state',
  'gquota_state',
  'pquota_state',
  'auto_expand_on_emergency',
  'auto_expand_by',
  'max_capacity',
  'flc_state',
  'flc_scan_state',
] as const satisfies readonly (keyof Volume)[];

const LIMITS = [
  'read_iops_capping',
  'write_iops_capping',
  'read_mbps_capping',
  'write_mbps_capping',
  'read_iops_limit',
  'write_iops_limit',
  'read_mbps_limit',
  'write_mbps_limit',
] as const satisfies readonly (keyof Volume)[];

/** What it was set to do: limits of a disk, ways of a share. */
export function VolumeOptions({ volume }: { readonly volume: Volume }) {
  const limits = LIMITS.map((name) => [OPTION_NAMES[name] ?? words(name), limitText(volume[name])] as const);
  const ways = SHARE_OPTIONS.map((name) => [OPTION_NAMES[name] ?? words(name), optionText(volume[name])] as const);
  return <Facts of={isShare(volume) ? ways : limits} />;
}

function limitText(value: string): string {
  return value === '0' ? 'none' : value;
}

function optionText(value: string | number | null): string {
  if (value === null) return '–';
  return typeof value === 'string' ? value.toLowerCase() : String(value);
}

import { array } from '../../api/array.ts';
import type { AnyInput } from '../../api/operations.ts';
import type { Volume } from '../records.ts';

const update = array.volumes.update.endpoint.params;
const all = Object.keys(update);

/** The options of volumes and shares, by what they are about. */
export const reductionFields = ['dedupe', 'compress'];
export const cappingFields = all.filter((name) => name.endsWith('_capping'));
export const shareFields = all.filter((name) => /^(?:nfs|smb|mountsync|atimeupdate|readahead|audit)/.test(name));

/** What of these options is set: the record has `mountsync` as `mount_sync`, and YES for true. */
export function optionsSet(volume: Volume, names: readonly string[]): AnyInput {
  const record = new Map(Object.entries(volume).map(([field, value]) => [field.replaceAll('_', ''), value]));
  const entries = names.flatMap((name) => {
    const value: unknown = record.get(name.replaceAll('_', ''));
    return value === null || value === undefined ? [] : [[name, valueFor(name, value)] as const];
  });
  return Object.fromEntries(entries);
}

function valueFor(name: string, value: unknown): unknown {
  const kind = (update as Readonly<Record<string, { readonly kind: string }>>)[name]?.kind;
  if (kind === 'boolean') return value === 'YES';
  return kind === 'integer' ? Number(value) : value;
}

/** Above which load an alert is raised; the latencies have no field of their own in the record. */
export function thresholdsSet(volume: Volume): AnyInput {
  const latencies = JSON.parse(volume.thresholds ?? '{}') as Readonly<Record<string, number>>;
  return {
    read_iops_limit: Number(volume.read_iops_limit),
    read_mbps_limit: Number(volume.read_mbps_limit),
    write_iops_limit: Number(volume.write_iops_limit),
    write_mbps_limit: Number(volume.write_mbps_limit),
    read_latency_limit: 0,
    write_latency_limit: 0,
    ...latencies,
  };
}

const MB_PER_GB = 1024;

/** What happens as a share runs full. */
export function protectionSet(volume: Volume): AnyInput {
  const capacity = (size: number | null) => (size === null ? undefined : `${size * MB_PER_GB}M`);
  return {
    capacityhistory: volume.capacity_history,
    alertmode: volume.alert_mode,
    emergencymode: volume.emergency_mode_mb / MB_PER_GB,
    autoexpand: volume.auto_expand_on_emergency === 'YES',
    maxcapacity: capacity(volume.max_capacity),
    autoexpandby: capacity(volume.auto_expand_by),
  };
}

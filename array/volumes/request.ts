import type { InputOf } from '@granary/contract';
import type { arrayApi } from '@granary/contract/array';
import { badParameter, bytes, type Bytes } from '@granary/kernel';
import { changedOptions, defaultOptions } from '../shares/options.ts';
import { checkOptions, readOptions, refuseShareOptions } from '../shares/request.ts';
import { GB, MB } from '../units.ts';
import type { ProtectionChange, Thresholds, VolumeOptions } from './updates.ts';
import type { NewShare, NewVolumeRequest } from './new-volume.ts';
import { refuseCaps } from './rules.ts';

type Volumes = typeof arrayApi.groups.volumes;
type CreateInput = InputOf<Volumes['create']>;
type UpdateInput = InputOf<Volumes['update']>;

/** A creation in our words. What the one kind of volume has and the other has not is refused by name. */
export function readNewVolume(input: CreateInput): NewVolumeRequest {
  return {
    displayName: input.name,
    pool: input.pool,
    sizeBytes: bytes(input.capacity * MB),
    compress: input.compress,
    dedupe: input.dedupe,
    encrypted: input.crypt,
    expandsItself: input.autoexpand,
    expandByBytes: megabytes(input.autoexpandby),
    maxBytes: megabytes(input.maxcapacity),
    share: shareIn(input),
    ...capsIn(input),
  };
}

function shareIn(input: CreateInput): NewShare | undefined {
  if (input.block) {
    refuseShareOptions(readOptions(input));
    if (input.export_name !== undefined) throw badParameter('export_name', 'is for file shares: send block=NO');
    if (input.flcenabled) throw badParameter('flcenabled', 'is for file shares: a block volume has no files');
    return undefined;
  }
  refuseCaps(capsIn(input));
  const options = changedOptions(defaultOptions, readOptions(input));
  checkOptions(options);
  return { options, exportName: input.export_name };
}

export function readVolumeChange(input: UpdateInput): VolumeOptions {
  const { compress, dedupe, mtr_histograms: histograms } = input;
  return { compress, dedupe, histograms, caps: capsIn(input), share: readOptions(input) };
}

export function readProtection(input: Omit<InputOf<Volumes['updateProtection']>, 'id'>): ProtectionChange {
  return {
    historyMinutes: input.capacityhistory,
    alertMinutes: input.alertmode,
    emergencyBytes: input.emergencymode === undefined ? undefined : bytes(input.emergencymode * GB),
    expandsItself: input.autoexpand,
    expandByBytes: megabytes(input.autoexpandby),
    maxBytes: megabytes(input.maxcapacity),
  };
}

export function readThresholds(input: Omit<InputOf<Volumes['updatePerformanceThresholds']>, 'id'>): Thresholds {
  return {
    readIopsLimit: input.read_iops_limit,
    readMbpsLimit: input.read_mbps_limit,
    readLatencyLimit: input.read_latency_limit,
    writeIopsLimit: input.write_iops_limit,
    writeMbpsLimit: input.write_mbps_limit,
    writeLatencyLimit: input.write_latency_limit,
  };
}

function capsIn(input: CreateInput | UpdateInput): VolumeOptions['caps'] {
  return {
    readIopsCap: input.read_iops_capping,
    readMbpsCap: input.read_mbps_capping,
    writeIopsCap: input.write_iops_capping,
    writeMbpsCap: input.write_mbps_capping,
  };
}

function megabytes(count: number | undefined): Bytes | undefined {
  return count === undefined ? undefined : bytes(count * MB);
}

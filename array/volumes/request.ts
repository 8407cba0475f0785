import type { InputOf } from '@granary/contract';
import type { arrayApi } from '@granary/contract/array';
import { badParameter } from '@granary/kernel';
import { changedOptions, defaultOptions } from '../shares/options.ts';
import { checkOptions, readOptions, refuseShareOptions } from '../shares/request.ts';
import { MB } from '../units.ts';
import type { VolumeOptions } from './changes.ts';
import type { NewShare, NewVolumeRequest } from './new-rows.ts';
import { refuseCaps } from './rules.ts';

type Volumes = typeof arrayApi.groups.volumes;
type CreateInput = InputOf<Volumes['create']>;
type UpdateInput = InputOf<Volumes['update']>;

/** A creation in our words. What the one kind of volume has and the other has not is refused by name. */
export function readNewVolume(input: CreateInput): NewVolumeRequest {
  return {
    displayName: input.name,
    pool: input.pool,
    sizeBytes: input.capacity * MB,
    compress: input.compress,
    dedupe: input.dedupe,
    encrypted: input.crypt,
    autoExpand: input.autoexpand,
    autoExpandByMb: input.autoexpandby,
    maxCapacityMb: input.maxcapacity,
    share: shareIn(input),
    readIopsCapping: input.read_iops_capping,
    readMbpsCapping: input.read_mbps_capping,
    writeIopsCapping: input.write_iops_capping,
    writeMbpsCapping: input.write_mbps_capping,
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

function capsIn({
  read_iops_capping,
  read_mbps_capping,
  write_iops_capping,
  write_mbps_capping,
}: CreateInput | UpdateInput): VolumeOptions['caps'] {
  return { read_iops_capping, read_mbps_capping, write_iops_capping, write_mbps_capping };
}

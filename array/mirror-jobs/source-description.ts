import type { Volume } from '../volumes/volume.ts';
import type { VolumeService } from '../volumes/service.ts';
import type { PoolService } from '../pools/service.ts';
import { sentOptions } from '../shares/request.ts';

/** The source of a mirror as it is sent to the other array, at the beginning and with each round. */
export function describeSource(
  volume: Volume,
  { volumes, pools }: { readonly volumes: VolumeService; readonly pools: PoolService },
) {
  return {
    cg_name: volume.consistencyGroup,
    cg_display_name: volume.displayName,
    pool_display_name: pools.get(volume.pool).displayName,
    wwid: volume.wwid,
    is_share: volume.kind === 'file',
    ...(volume.kind === 'file' && sentOptions(volumes.shares.get(volume.name).options)),
  };
}

import { atLeast, type Ratio } from '../ratio.ts';
import { benchKernels } from './kernels.ts';
import { benchMaps } from './maps.ts';
import { benchTarget } from './target.ts';
import { benchVolume } from './volume.ts';

export async function benchStorage(): Promise<Ratio[]> {
  // What looks at this process itself comes first, while nothing else has been at work in it.
  return [...(await benchMaps()), ...kernelRatios(), ...(await benchVolume()), ...(await benchTarget())];
}

/** Parity has a target; the other kernels are reported for comparison. */
function kernelRatios(): Ratio[] {
  return benchKernels().map(({ name, gigabytesPerSecond, ratioToCopy }) => {
    const goal = name.startsWith('computeParity') && name.endsWith('arena') ? 0.3 : 0;
    return atLeast(`of Buffer.copy: ${name} [${gigabytesPerSecond.toFixed(2)} GB/s]`, ratioToCopy, goal);
  });
}

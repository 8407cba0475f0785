import { CONCERNS_MAX, type ArraySummary } from '@granary/contract';
import { GB, MB, usedAsRecorded, WHOLE } from '@granary/kernel';
import type { ArrayDriveService } from '../drives/service.ts';
import type { ForecastService } from '../forecasts/service.ts';
import type { MirrorService } from '../mirror-jobs/service.ts';
import type { PoolService } from '../pools/service.ts';
import type { RaidGroupService } from '../raid-groups/service.ts';
import type { ArrayTools } from '../tools.ts';
import {
  controllerConcerns,
  driveConcerns,
  groupConcerns,
  lockedConcerns,
  mirrorConcerns,
  poolConcerns,
} from './concerns.ts';

interface Parts {
  readonly drives: ArrayDriveService;
  readonly raidGroups: RaidGroupService;
  readonly pools: PoolService;
  readonly mirrors: MirrorService;
  readonly forecasts: ForecastService;
}

/** What the portal shows of the inside of this array. */
export class SummaryService {
  readonly #tools: Pick<ArrayTools, 'readings' | 'clock'>;
  readonly #parts: Parts;

  constructor(tools: Pick<ArrayTools, 'readings' | 'clock'>, parts: Parts) {
    this.#tools = tools;
    this.#parts = parts;
  }

  async get(): Promise<ArraySummary> {
    const { readings, clock } = this.#tools;
    const { drives: driveService, raidGroups, pools: poolService, mirrors, forecasts } = this.#parts;
    const { drives } = driveService.list(WHOLE);
    const { groups } = raidGroups.list(WHOLE);
    const { pools } = poolService.list(WHOLE);
    const locked = [...readings.volumes].filter(({ isLocked }) => isLocked).length;
    const concerns = [
      ...groupConcerns(groups),
      ...driveConcerns(drives, groups),
      ...poolConcerns(pools, await forecasts.of('pool')),
      ...lockedConcerns(locked),
      ...controllerConcerns(readings.controllers, clock.now()),
      ...mirrorConcerns(mirrors.standings()),
    ].sort((one, other) => Number(one.severity === 'warning') - Number(other.severity === 'warning'));
    return {
      raw_bytes: sum(drives.map(({ placed }) => placed.capacityGb * GB)),
      // As their records say it: the sum of what is shown of each.
      usable_bytes: sum(groups.map(({ group }) => recordedBytes(group.capacityBytes))),
      pooled_bytes: sum(pools.map(({ pool }) => recordedBytes(pool.capacityBytes))),
      used_bytes: sum(
        pools.map(({ pool, report }) =>
          usedAsRecorded(report?.isOpen ? report.usedBytes : forecasts.lastUsedBytes(pool.name)),
        ),
      ),
      concerns: concerns.slice(0, CONCERNS_MAX),
      concern_count: concerns.length,
    };
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** In whole GB, as records of groups and pools have it, so that all pages show the same; what is smaller in whole MB. */
function recordedBytes(bytes: number): number {
  const unit = bytes >= GB ? GB : MB;
  return Math.floor(bytes / unit) * unit;
}

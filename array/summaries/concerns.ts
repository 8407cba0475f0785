import type { Concern } from '@granary/contract';
import type { Filled, Forecast } from '@granary/kernel';
import { isFailed, type Drive } from '../drives/drive.ts';
import type { ControllerReport } from '../engine/report.ts';
import type { MirrorStanding } from '../mirror-jobs/mirror.ts';
import type { Pool, PoolFacts } from '../pools/pool.ts';
import type { RaidGroupFacts } from '../raid-groups/raid-group.ts';

/** A pool that will be full within these days is named beforehand. */
const DAYS_AHEAD = 30;
/** A controller that serves again is named for as long as this: one that failed may fail again. */
const FAILURE_TOLD_MS = 3_600_000;

export function driveConcerns(drives: readonly Drive[], groups: readonly RaidGroupFacts[]): Concern[] {
  const nameOf = new Map(groups.map(({ group }) => [group.name, group.displayName]));
  return drives.flatMap((drive) => {
    const { record, isPresent, state } = drive;
    const place = record.raidGroup === null ? '' : ` in RAID group ${nameOf.get(record.raidGroup) ?? record.raidGroup}`;
    const concern = (what: string): Concern[] => [
      {
        severity: record.raidGroup === null ? 'warning' : 'error',
        kind: 'drives',
        id: record.name,
        text: `Drive ${record.displayName}${place} ${what}.`,
      },
    ];
    if (record.isOffline) return concern('was taken out of service and counts as failed');
    if (isFailed(drive)) return concern('has failed');
    return isPresent && state !== 'absent' ? [] : concern('is absent');
  });
}

export function groupConcerns(groups: readonly RaidGroupFacts[]): Concern[] {
  return groups.flatMap(({ group, report }): Concern[] => {
    const { name: id, displayName } = group;
    const concern = (severity: Concern['severity'], what: string): Concern[] => [
      { severity, kind: 'raid-groups', id, text: `RAID group ${displayName} ${what}.` },
    ];
    const state = report?.state ?? 'failed';
    if (state === 'failed') return concern('error', 'has failed: what lies on it cannot be read');
    if (state === 'degraded') return concern('error', 'is degraded: it runs without a drive');
    if (state !== 'recovering') return [];
    return concern('warning', `is being rebuilt, ${Math.floor((report?.progress ?? 0) * 100)} % are done`);
  });
}

const MODES: Readonly<Record<Exclude<Pool['capacityMode'], 'normal'>, string>> = {
  alert: 'is running full',
  protected: 'is protected because it is running full: nothing new can be made in it',
  emergency: 'is in an emergency: hardly any room is left',
};

export function poolConcerns(pools: readonly PoolFacts[], forecasts: readonly (Forecast & Filled)[]): Concern[] {
  const days = new Map(forecasts.map((forecast) => [forecast.id, forecast.days?.likely ?? Infinity]));
  return pools.flatMap(({ pool, isFailed: failed }): Concern[] => {
    const concern = (severity: Concern['severity'], what: string): Concern[] => [
      { severity, kind: 'pools', id: pool.name, text: `Pool ${pool.displayName} ${what}.` },
    ];
    if (pool.state !== 'ready') return [];
    if (failed) return concern('error', 'has failed: a RAID group or its metadata is missing');
    const mode = pool.capacityMode;
    if (mode !== 'normal') return concern(mode === 'emergency' ? 'error' : 'warning', MODES[mode]);
    const left = days.get(pool.name) ?? Infinity;
    return left < DAYS_AHEAD ? concern('warning', `will be full in about ${daysText(left)}`) : [];
  });
}

export function mirrorConcerns(mirrors: readonly MirrorStanding[]): Concern[] {
  return mirrors
    .filter(({ state }) => state === 'broken')
    .map(({ name: id, displayName }) => ({
      severity: 'warning',
      kind: 'mirrors',
      id,
      text: `Mirror ${displayName} is broken: nothing is sent any more.`,
    }));
}

export function controllerConcerns(controllers: readonly ControllerReport[], now: number): Concern[] {
  return controllers.flatMap(({ name, state, failedAt }): Concern[] => {
    const concern = (text: string): Concern[] => [{ severity: 'warning', kind: 'settings', id: '', text }];
    if (state === 'failed') return concern(`Controller ${name} has failed; the other one serves.`);
    if (failedAt === null || now - failedAt > FAILURE_TOLD_MS) return [];
    return concern(`Controller ${name} failed within the last hour and was started again; the events say why.`);
  });
}

export function lockedConcerns(locked: number): Concern[] {
  if (locked === 0) return [];
  const what = locked === 1 ? 'An encrypted volume is' : `${locked} encrypted volumes are`;
  const text = `${what} locked: servers reach them once the encryption password was entered.`;
  return [{ severity: 'error', kind: 'settings', id: '', text }];
}

function daysText(days: number): string {
  const whole = Math.ceil(days);
  return whole === 1 ? 'a day' : `${whole} days`;
}

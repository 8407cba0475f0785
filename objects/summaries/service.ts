import { CONCERNS_MAX, type ArraySummary, type Concern } from '@granary/contract';
import { GB } from '@granary/kernel';
import type { KnownDrive, ObjectDriveService } from '../drives/service.ts';
import type { ForecastService } from '../forecasts/service.ts';
import { withoutCopies } from '../policies/capacity.ts';
import type { KnownPolicy, PolicyService } from '../policies/service.ts';

interface Parts {
  readonly drives: ObjectDriveService;
  readonly policies: PolicyService;
  readonly forecasts: ForecastService;
  readonly drivesOfArray: () => readonly { readonly capacityGb: number }[];
}

/** A policy that will be full within these days is named beforehand. */
const DAYS_AHEAD = 30;

/** What the portal shows of the inside of this array. */
export class SummaryService {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async get(): Promise<ArraySummary> {
    const policies = this.#parts.policies.list();
    const days = new Map((await this.#parts.forecasts.of()).map((one) => [one.id, one.days?.likely ?? Infinity]));
    const concerns = [
      ...policies.flatMap((policy) => policyConcerns(policy, days.get(policy.name) ?? Infinity)),
      ...this.#parts.drives.list().flatMap(driveConcerns),
    ].sort((one, other) => Number(one.severity === 'warning') - Number(other.severity === 'warning'));
    // In terms of objects: their copies and fragments take the rest of the drives.
    const usable = sum(policies.map(({ report }) => withoutCopies(report.policy, report.capacity)));
    return {
      raw_bytes: sum(this.#parts.drivesOfArray().map(({ capacityGb }) => capacityGb * GB)),
      usable_bytes: usable,
      pooled_bytes: usable,
      used_bytes: sum(policies.map(({ report }) => withoutCopies(report.policy, report.usedBytes))),
      concerns: concerns.slice(0, CONCERNS_MAX),
      concern_count: concerns.length,
    };
  }
}

function policyConcerns({ name: id, displayName, report, mode }: KnownPolicy, days: number): Concern[] {
  const concern = (severity: Concern['severity'], what: string): Concern => ({
    severity,
    kind: 'policies',
    id,
    text: `Storage policy ${displayName} ${what}.`,
  });
  const health = {
    normal: [],
    degraded: [concern('warning', 'is degraded: some objects lack copies or fragments')],
    critical: [concern('error', 'is critical: one more failure loses data')],
  }[report.health];
  if (mode === 'emergency') return [...health, concern('error', 'is full: nothing new is written')];
  if (mode === 'alert') return [...health, concern('warning', 'will be full within hours')];
  if (days >= DAYS_AHEAD) return health;
  const whole = Math.ceil(days);
  return [...health, concern('warning', `will be full in about ${whole === 1 ? 'a day' : `${whole} days`}`)];
}

/** One that has not joined its policy yet is on its way. */
function driveConcerns({ name, report, policy }: KnownDrive): Concern[] {
  if (report?.state !== 'absent') return [];
  const text = `Drive ${name}${policy === null ? '' : ` of storage policy ${policy}`} does not answer.`;
  return [{ severity: 'error', kind: 'drives', id: name, text }];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

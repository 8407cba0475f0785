import { numberProblem } from '../../parts/typed-number.ts';
import { drivesNeeded, policyTypesOf, type PortalCloud } from './record.ts';

/** An order as it is being made. */
export interface Order {
  readonly kind: 'storage_array' | 'object_storage';
  readonly provider: string;
  readonly engine: string;
  readonly drives: Readonly<Record<string, number>>;
  readonly policyType: number | undefined;
  readonly name: string;
  readonly description: string;
  readonly zone: string | undefined;
  readonly makesPools: boolean;
  readonly fileLifecycle: boolean;
  /** The cloud's default where it is not chosen. */
  readonly appEngine: string | undefined;
  /** GB beyond the engine's own. */
  readonly cacheGb: number;
  readonly dualTarget: boolean;
  readonly network: number | undefined;
  readonly moderate: boolean;
}

interface Offered {
  readonly provider: { readonly key: string };
  readonly cloud: PortalCloud;
}

/** The smallest array that works: a small engine, a mirrored pair; for objects the first way to keep them. */
export function newOrder({ provider, cloud }: Offered): Order {
  const [drive] = cloud.drive_types;
  const least = Math.max(2, cloud.minimum_drives);
  return {
    kind: 'storage_array',
    provider: provider.key,
    engine: cloud.engine_types[0]?.key ?? '',
    drives: drive ? { [drive.key]: least } : {},
    policyType: policyTypesOf(cloud)[0]?.id,
    name: '',
    description: '',
    zone: undefined,
    makesPools: true,
    fileLifecycle: false,
    appEngine: undefined,
    cacheGb: 0,
    dualTarget: false,
    network: undefined,
    moderate: false,
  };
}

/** What still stands in the way of a step, in words; `undefined`: of the whole order. */
export function problemsOf(order: Order, cloud: PortalCloud, step?: 'size' | 'details'): string[] {
  const all = [...sizeProblems(order, cloud), ...(order.name.trim() === '' ? ['It needs a name.'] : [])];
  return step === 'size' ? sizeProblems(order, cloud) : all;
}

/** Of one type, in one order. */
export const DRIVES_MAX = 10_000;

/** Undefined where what is typed is no number of drives. */
export function driveCount({ drives }: Order): number | undefined {
  const counts = Object.values(drives);
  const isWrong = (count: number) => numberProblem(count, { min: 0, max: DRIVES_MAX }) !== undefined;
  return counts.some(isWrong) ? undefined : counts.reduce((sum, one) => sum + one, 0);
}

function sizeProblems(order: Order, cloud: PortalCloud): string[] {
  const count = driveCount(order);
  if (count === undefined) return [`Drives are counted in whole numbers, at most ${DRIVES_MAX} of a type.`];
  const engine = cloud.engine_types.find(({ key }) => key === order.engine);
  const isBlock = order.kind === 'storage_array';
  const policy = policyTypesOf(cloud).find(({ id }) => id === order.policyType);
  return [
    count < cloud.minimum_drives && `It needs at least ${cloud.minimum_drives} drives.`,
    isBlock && !engine && 'It needs an engine.',
    isBlock && engine && count > engine.max_drives && `${engine.name} takes at most ${engine.max_drives} drives.`,
    isBlock && cacheProblem(order, cloud, engine?.cache.max_flash_cache_gb),
    !isBlock && order.policyType === undefined && 'Choose how objects are kept.',
    !isBlock &&
      policy &&
      count < drivesNeeded(policy) &&
      `${policy.name} needs at least ${drivesNeeded(policy)} drives.`,
    !isBlock && Object.keys(order.drives).length > 1 && 'Object storage takes drives of one type.',
  ].filter((problem) => typeof problem === 'string');
}

function cacheProblem(
  { cacheGb }: Order,
  { flash_cache: { increment_gb: step } }: PortalCloud,
  most: number | undefined,
): string | undefined {
  const problem = numberProblem(cacheGb, { min: 0, max: most });
  if (problem !== undefined) return `Cache, in GiB: ${problem}`;
  return cacheGb % Math.max(1, step) === 0 ? undefined : `Cache is bought in steps of ${step} GiB.`;
}

/** The order as the API takes it. */
export function inputOf(order: Order): Readonly<Record<string, unknown>> {
  const isBlock = order.kind === 'storage_array';
  return {
    name: order.name.trim(),
    kind: order.kind,
    provider: order.provider,
    drives: order.drives,
    description: order.description === '' ? undefined : order.description,
    allocation_zone: order.zone,
    moderate: order.moderate || undefined,
    ...(isBlock && {
      engine: order.engine,
      create_raid_10_pools: order.makesPools,
      flc_enabled: order.fileLifecycle ? 'YES' : undefined,
      app_engine: order.appEngine,
      flash_cache_capacity: order.cacheGb > 0 ? order.cacheGb : undefined,
      iscsi_dual_target_mode_enabled: order.dualTarget ? 'YES' : undefined,
      custom_network_id: order.network,
    }),
    ...(!isBlock && { array_zone_group_storage_policy_type_id: order.policyType }),
  };
}

import { stateSamples, WHOLE, type HostedConfiguration, type Measure, type SimpleMeasure } from '@granary/kernel';
import type { ObjectAccountService } from '../accounts/service.ts';
import type { ObjectDriveService } from '../drives/service.ts';
import type { PolicyPlacement } from '../engine/report.ts';
import type { KnownPolicy, PolicyService } from '../policies/service.ts';
import type { AccountFigures } from '../tools.ts';
import type { VirtualControllerService } from '../virtual-controllers/service.ts';
import type { RequestFigures } from './request-figures.ts';

interface MeasuredObjects {
  readonly configuration: () => HostedConfiguration;
  readonly figures: AccountFigures;
  readonly accounts: ObjectAccountService;
  readonly policies: PolicyService;
  readonly drives: ObjectDriveService;
  readonly controllers: VirtualControllerService;
  readonly requestFigures: RequestFigures;
}

const HEALTHS = ['normal', 'degraded', 'critical'] as const;
const MODES = ['normal', 'alert', 'emergency'] as const;
const DRIVE_STATES = ['normal', 'leaving', 'absent', 'joining'] as const;
const CONTROLLER_STATES = ['running', 'failed'] as const;

/** The measures of an object storage array beside its management requests and its process. */
export function objectsMeasures(objects: MeasuredObjects, version: string): Measure[] {
  const { configuration, drives, controllers } = objects;
  return [
    gauge('array_info', 'Name and version of the array, always 1', () => {
      const { internalName, displayName } = configuration();
      return [{ labels: { array: internalName, name: displayName, version }, value: 1 }];
    }),
    ...objects.requestFigures.measures(),
    ...contentMeasures(objects),
    ...policyMeasures(objects.policies),
    gauge('object_drive_state', 'State of a drive: 1 for the present one', function* read() {
      for (const { name, report } of drives.list())
        yield* stateSamples({ drive: name }, DRIVE_STATES, report?.state ?? 'joining');
    }),
    gauge('object_controller_state', 'State of a virtual controller: 1 for the present one', function* read() {
      for (const { name, running } of controllers.list())
        yield* stateSamples({ controller: name }, CONTROLLER_STATES, running ? 'running' : 'failed');
    }),
  ];
}

function contentMeasures({ accounts, figures }: MeasuredObjects): Measure[] {
  const sum = (key: 'buckets' | 'objects' | 'bytes') => () => {
    let total = 0;
    for (const { id } of accounts.list(undefined, WHOLE).accounts) total += figures.usage(id)[key];
    return [{ labels: {}, value: total }];
  };
  return [
    gauge('object_accounts', 'Accounts', () => [
      { labels: {}, value: accounts.list(undefined, { start: 0, limit: 1 }).count },
    ]),
    gauge('object_buckets', 'Buckets and containers of all accounts', sum('buckets')),
    gauge('object_objects', 'Objects of all accounts', sum('objects')),
    gauge('object_stored_bytes', 'Bytes of the objects of all accounts, without their redundancy', sum('bytes')),
  ];
}

function policyMeasures(policies: PolicyService): Measure[] {
  const figure = (valueOf: (policy: KnownPolicy) => number) => () =>
    policies.list().map((policy) => ({ labels: { policy: policy.displayName }, value: valueOf(policy) }));
  /** Where the engine says how partitions are placed. */
  function* placed(): Generator<{ policy: string; placement: PolicyPlacement }> {
    for (const { displayName, report } of policies.list())
      if (report.placement) yield { policy: displayName, placement: report.placement };
  }
  return [
    gauge(
      'object_policy_capacity_bytes',
      'Capacity of the drives of a policy',
      figure(({ report }) => report.capacity),
    ),
    gauge(
      'object_policy_used_bytes',
      'What is used of them',
      figure(({ report }) => report.usedBytes),
    ),
    gauge(
      'object_policy_usable',
      '1 when objects can be written under a policy',
      figure(({ report }) => Number(report.isUsable)),
    ),
    gauge('object_policy_health', 'Health of a policy: 1 for the present one', function* read() {
      for (const { displayName, report } of policies.list())
        yield* stateSamples({ policy: displayName }, HEALTHS, report.health);
    }),
    gauge('object_policy_capacity_mode', 'Capacity mode of a policy: 1 for the present one', function* read() {
      for (const { displayName, mode } of policies.list()) yield* stateSamples({ policy: displayName }, MODES, mode);
    }),
    gauge('object_policy_partitions', 'Partitions of a policy by health', function* read() {
      for (const { policy, placement } of placed())
        for (const health of HEALTHS) yield { labels: { policy, health }, value: placement.partitions[health] };
    }),
    gauge('object_policy_repair_backlog_partitions', 'Partitions to be moved or repaired', function* read() {
      for (const { policy, placement } of placed()) {
        const { done, total } = placement.rebalance ?? { done: 0, total: 0 };
        yield { labels: { policy }, value: total - done };
      }
    }),
  ];
}

function gauge(name: string, help: string, read: SimpleMeasure['read']): SimpleMeasure {
  return { name: `granary_${name}`, help, type: 'gauge', read };
}

import type { Static } from 'typebox';
import { endpoint, type Group } from '../endpoint.ts';
import { json, optional, page, price, text } from '../params.ts';
import { int, listOf, nullable, num, record, str, utc, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly } from './access.ts';
import { Drive } from './drives.ts';
import { capacityOverTime, metering, proxyService } from './metering.ts';
import { waiting, worked } from './waiting.ts';
import { Type } from '../schema.ts';

export const StoragePolicy = record('StoragePolicy', {
  name: str(),
  display_name: str(),
  default: yesNo(),
  policy_index: int(),
  num_regions: int(),
  replication_mode: str('`synchronous`'),
  policy_type: str(),
  system: yesNo(),
  number_of_mirrors: int('Copies of each object; 0 where it is cut into fragments'),
  data_fragments: int(),
  parity_fragments: int(),
  ring_version: int('Goes up each time partitions are placed anew'),
  type: str('`object`'),
  state: str('`initialized` when no work on it is under way'),
  health_status: str(),
  health_percentage: num(),
  rebalance_status: str(),
  rebalance_percentage: num(),
  total_drives: int(),
  capacity: num('GB'),
  used_capacity: num('GB, with all copies and fragments'),
  full_in_min: nullable(
    int(
      'Minutes until it is full, if it grows on as in the time of the forecast; null while it does not grow, and in its first hour',
    ),
  ),
  gb_per_month_cost: num('In the billing currency'),
  capacity_mode: str('`normal`, `alert` or `emergency`'),
  capacity_history_min: int('Minutes of growth that the forecast looks at'),
  alert_mode_min: int('Alerts when the forecast sees it full within these minutes'),
  emergency_mode_percentage: num('Refuses new data when less than this is free'),
  can_reconfig: yesNo(),
  partition_percent_normal: num(),
  partition_percent_degraded: num(),
  partition_percent_critical: num(),
  partition_count_normal: int(),
  partition_count_degraded: int(),
  partition_count_critical: int(),
  partition_count_total: int(),
  short_description: nullable(str()),
  full_description: nullable(str()),
  created_at: utc(),
  modified_at: utc(),
  reported_at: nullable(utc()),
  rebalanced_at: nullable(utc()),
});

/** As a policy is shown alone. */
export const StoragePolicyDetail = record('StoragePolicyDetail', {
  ...StoragePolicy.properties,
  disks_count: int(),
  disks: listOf(Drive),
});

const RemovedDrives = Type.Array(
  Type.Object({
    type: Type.String({ minLength: 1, maxLength: 64, description: 'Drive type' }),
    quantity: Type.Integer({ minimum: 1, maximum: 1000, description: 'How many drives of that type' }),
  }),
  { minItems: 1, maxItems: 100 },
);

const policyName = text('Name of the storage policy', { max: 64, example: 'policy-00000001' });

export const policies = {
  list: endpoint('GET', '/objs/policies', {
    summary: 'List the storage policies',
    access: adminOnly,
    params: page,
    reply: response({ policies: listOf(StoragePolicy), count: int() }),
  }),
  get: endpoint('GET', '/objs/policies/{name}', {
    summary: 'Show one storage policy with its drives',
    access: adminOnly,
    params: { name: policyName },
    reply: response({ policy: StoragePolicyDetail }),
    errors: ['objs_policy_not_found'],
  }),
  update: endpoint('PUT', '/objs/policies/{name}', {
    summary: 'Change the description or the price of a storage policy',
    access: adminOnly,
    params: {
      name: policyName,
      full_description: optional(text('What the policy is for', { min: 0, example: 'Three copies, for hot data' })),
      gb_per_month_cost: optional(price('Price of a GB for a month, in the billing currency')),
      ...waiting,
    },
    reply: worked,
    job: { until: ['initialized'] },
    errors: ['objs_policy_not_found', 'objs_state_conflict'],
  }),
  setDefault: endpoint('POST', '/objs/policies/{name}/set_default', {
    summary: 'Make a storage policy the one new containers get',
    access: adminOnly,
    params: { name: policyName },
    reply: response({ policy_name: str() }),
    errors: ['objs_policy_not_found', 'objs_state_conflict'],
  }),
  removeDrives: endpoint('DELETE', '/objs/policies/{name}/drives', {
    summary: 'Move the data off drives of a storage policy and remove them',
    access: adminOnly,
    params: {
      name: policyName,
      drives: json<Static<typeof RemovedDrives>>(RemovedDrives, 'How many drives of which types to remove', {
        example: [{ type: 'SATA_1000GB', quantity: 2 }],
      }),
      ...waiting,
    },
    reply: worked,
    job: { until: ['initialized'] },
    errors: ['objs_policy_not_found', 'objs_state_conflict'],
  }),
  capacity: capacityOverTime('/objs/policies/{id}', {
    subject: 'a storage policy',
    access: adminOnly,
    params: { id: policyName },
    errors: ['objs_policy_not_found'],
  }),
  ...metering('/objs/policies/{id}', {
    subject: 'a storage policy',
    access: adminOnly,
    params: { id: policyName, service: proxyService },
    errors: ['objs_policy_not_found'],
  }),
} satisfies Group;

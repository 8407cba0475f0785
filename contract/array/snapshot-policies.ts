import { endpoint, type Group } from '../endpoint.ts';
import { boolean, choice, name, optional, page, text, withDefault } from '../params.ts';
import { iso, listOf, nullable, record, str, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { creatorOf, signedIn } from './access.ts';
import { consistencyGroupId, snapshotPolicyId, snapshotRuleId, volumeId } from './ids.ts';
import { allOptional, count } from './shared.ts';

export const SnapshotPolicy = record('SnapshotPolicy', {
  name: str(),
  display_name: str(),
  create_policy: str('When it takes snapshots: five cron fields in UTC, or manual'),
  delete_policy: nullable(str('N<n> keeps the newest n; null keeps all')),
  destination_delete_policy: nullable(str('The same, where a mirror sends them')),
  paused: yesNo(),
  create_empty: yesNo(),
  attach: yesNo(),
  destination: nullable(str('Where a mirror sends them')),
  type: nullable(str('What it was attached for: user, file_history or mirror')),
  snapshot_rule: nullable(str('The rule that ties it to the volume asked about')),
  created_at: iso(),
  modified_at: iso(),
});

const policyPage = response({ snapshot_policies: listOf(SnapshotPolicy), count });
const ruleNamed = response({ snapshot_rule_name: str() });
const keep = (description: string, aliases: string[]) =>
  optional(
    text(description, {
      min: 0,
      max: 8,
      pattern: '^(N[0-9]{1,6})?$',
      form: 'N and a number such as N24, or empty',
      example: 'N24',
      aliases,
    }),
  );

const settings = {
  display_name: name('Name shown to users', { example: 'Nightly', aliases: ['name'] }),
  create_policy: text('When to take snapshots: five cron fields in UTC, or manual', { max: 128, example: '0 0 * * *' }),
  delete_policy: keep('Snapshots to keep, N24 for 24; empty keeps all', []),
  destination_policy: keep('The same, where a mirror sends them', ['destination_delete_policy']),
  empty: withDefault(boolean('Take a snapshot even when nothing changed', { aliases: ['create_empty'] }), false),
};

export const snapshotPolicies = {
  list: endpoint('GET', '/snapshot_policies', {
    summary: 'List the snapshot policies',
    access: signedIn,
    params: page,
    reply: policyPage,
  }),
  listOfGroup: endpoint('GET', '/consistency_groups/{volume_cg_id}/snapshot_policies', {
    summary: 'List the snapshot policies attached to a volume',
    access: signedIn,
    params: { volume_cg_id: consistencyGroupId, ...page },
    reply: policyPage,
    errors: ['consistency_group_not_found'],
  }),
  get: endpoint('GET', '/snapshot_policies/{id}', {
    summary: 'Show one snapshot policy',
    access: signedIn,
    params: { id: snapshotPolicyId },
    reply: response({ snapshot_policy: SnapshotPolicy }),
    errors: ['policy_not_found'],
  }),
  create: endpoint('POST', '/snapshot_policies', {
    summary: 'Make a snapshot policy: when to take snapshots and how many to keep',
    access: signedIn,
    params: settings,
    reply: response({ snapshot_policy: SnapshotPolicy }),
    errors: ['name_taken', 'limit_reached'],
  }),
  update: endpoint('PUT', '/snapshot_policies/{id}', {
    summary: 'Change a snapshot policy on every volume it is attached to; what is not sent stays as it is',
    access: creatorOf('snapshot_policy'),
    params: { id: snapshotPolicyId, ...allOptional(settings) },
    reply: response({ snapshot_policy: SnapshotPolicy }),
    errors: ['policy_not_found', 'name_taken'],
  }),
  delete: endpoint('DELETE', '/snapshot_policies/{id}', {
    summary: 'Delete a snapshot policy that is attached to nothing',
    access: creatorOf('snapshot_policy'),
    params: { id: snapshotPolicyId },
    reply: response({ snapshot_policy_name: str() }),
    errors: ['policy_not_found', 'state_conflict'],
  }),
  attach: endpoint('POST', '/volumes/{id}/attach_snapshot_policy', {
    summary: 'Attach a snapshot policy to a volume',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      policy: snapshotPolicyId,
      application: choice(['user', 'file_history'], 'Snapshots to go back to, or earlier versions of files for users'),
    },
    reply: ruleNamed,
    errors: ['volume_not_found', 'policy_not_found', 'limit_reached', 'state_conflict'],
  }),
  detach: endpoint('POST', '/volumes/{id}/detach_snapshot_policy', {
    frees: true,
    summary: 'Detach a snapshot policy from a volume',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      snaprule: snapshotRuleId,
      delete_snapshots: withDefault(boolean('Delete the snapshots it took'), false),
      force: withDefault(
        boolean('With delete_snapshots: leave those that a mirror or a clone needs, and delete the others'),
        false,
      ),
    },
    reply: ruleNamed,
    errors: ['volume_not_found', 'policy_not_found', 'state_conflict'],
  }),
  pause: endpoint('POST', '/snapshot_policies/{snaprule}/pause', {
    summary: 'Take no more snapshots of a volume by one of its policies',
    access: creatorOf('snapshot_rule', 'snaprule'),
    params: {
      snaprule: snapshotRuleId,
      id: optional({ ...snapshotRuleId, description: 'The same rule once more; another one is refused' }),
    },
    reply: response({ snaprule_name: str() }),
    errors: ['policy_not_found', 'state_conflict'],
  }),
  resume: endpoint('POST', '/snapshot_policies/{snaprule}/resume', {
    summary: 'Take snapshots of a volume by one of its paused policies again',
    access: creatorOf('snapshot_rule', 'snaprule'),
    params: { snaprule: snapshotRuleId },
    reply: response({ snaprule_name: str() }),
    errors: ['policy_not_found', 'state_conflict'],
  }),
} satisfies Group;

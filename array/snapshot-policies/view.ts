import { formatIso } from '@granary/kernel';
import type { AttachedPolicy, PolicyInUse, PolicyRow } from './repository.ts';

export function viewOf(policy: PolicyInUse) {
  return {
    ...settingsOf(policy),
    paused: yesNo(policy.rules > 0 && policy.paused_rules === policy.rules),
    attach: yesNo(policy.rules > 0),
    destination: null,
    type: null,
    snapshot_rule: null,
    ...timesOf(policy),
  };
}

/** As one volume has it. */
export function viewOfAttached(policy: AttachedPolicy) {
  return {
    ...settingsOf(policy),
    paused: yesNo(policy.is_paused === 1),
    attach: yesNo(true),
    destination: policy.mirror_job,
    type: policy.application,
    snapshot_rule: policy.rule,
    ...timesOf(policy),
  };
}

function settingsOf(policy: PolicyRow) {
  return {
    name: policy.name,
    display_name: policy.display_name,
    create_policy: policy.create_policy,
    delete_policy: keepOf(policy.keep),
    destination_delete_policy: keepOf(policy.keep_at_destination),
    create_empty: yesNo(policy.create_empty === 1),
  };
}

function timesOf({ created_at, modified_at }: PolicyRow) {
  return { created_at: formatIso(created_at), modified_at: formatIso(modified_at) };
}

function keepOf(keep: number | null): string | null {
  return keep === null ? null : `N${keep}`;
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}

import { formatIso } from '@granary/kernel';
import type { AttachedPolicy, PolicyInUse, SnapshotPolicy } from './policy.ts';

export function viewOf(policy: PolicyInUse) {
  return {
    ...settingsOf(policy),
    paused: yesNo(policy.rules > 0 && policy.pausedRules === policy.rules),
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
    paused: yesNo(policy.isPaused),
    attach: yesNo(true),
    destination: policy.mirrorJob,
    type: policy.application,
    snapshot_rule: policy.rule,
    ...timesOf(policy),
  };
}

function settingsOf(policy: SnapshotPolicy) {
  return {
    name: policy.name,
    display_name: policy.displayName,
    create_policy: policy.schedule,
    delete_policy: keepOf(policy.keep),
    destination_delete_policy: keepOf(policy.keepAtDestination),
    create_empty: yesNo(policy.createsEmpty),
  };
}

function timesOf({ createdAt, modifiedAt }: SnapshotPolicy) {
  return { created_at: formatIso(createdAt), modified_at: formatIso(modifiedAt) };
}

function keepOf(keep: number | null): string | null {
  return keep === null ? null : `N${keep}`;
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}

import { formatUtc } from '@granary/kernel';
import type { LifecyclePolicy, RuleInPlace } from './policy.ts';

export function policyView(policy: LifecyclePolicy) {
  return {
    name: policy.name,
    display_name: policy.displayName,
    enabled: yesNo(policy.isEnabled),
    dry_run_mode: yesNo(policy.isDryRun),
    use_recycle_bin: yesNo(policy.usesBin),
    file_selection_criteria: policy.criteria,
    whitelist_paths: commaList(policy.whitelist),
    blacklist_paths: commaList(policy.blacklist),
    action: policy.action,
    created_at: formatUtc(policy.createdAt),
    modified_at: formatUtc(policy.modifiedAt),
  };
}

export function ruleView(rule: RuleInPlace) {
  return {
    name: rule.name,
    policy_name: rule.policy,
    policy_display_name: rule.policyDisplayName,
    volume_name: rule.volume,
    volume_display_name: rule.volumeDisplayName,
    paused: yesNo(rule.isPaused),
    last_run_at: rule.lastRunAt === null ? null : formatUtc(rule.lastRunAt),
    last_run_dry: rule.lastRunAt === null ? null : yesNo(rule.wasDryRun),
    matched_files: rule.matchedFiles,
    matched_bytes: rule.matchedBytes,
    handled_files: rule.handledFiles,
    handled_bytes: rule.handledBytes,
    changed_files: rule.changedFiles,
    failed_files: rule.failedFiles,
    last_run_problem: rule.problem,
    matched_paths: [...rule.sample],
    created_at: formatUtc(rule.createdAt),
    modified_at: formatUtc(rule.modifiedAt),
  };
}

function commaList(paths: readonly string[] | null): string | null {
  return paths?.join(',') ?? null;
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}

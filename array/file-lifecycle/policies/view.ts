import { formatUtc } from '@granary/kernel';
import type { LifecyclePolicy, RuleInPlace } from './policy.ts';

export function policyView(row: LifecyclePolicy) {
  return {
    name: row.name,
    display_name: row.displayName,
    enabled: yesNo(row.isEnabled),
    dry_run_mode: yesNo(row.isDryRun),
    use_recycle_bin: yesNo(row.usesBin),
    file_selection_criteria: row.criteria,
    whitelist_paths: commaList(row.whitelist),
    blacklist_paths: commaList(row.blacklist),
    action: row.action,
    created_at: formatUtc(row.createdAt),
    modified_at: formatUtc(row.modifiedAt),
  };
}

export function ruleView(row: RuleInPlace) {
  return {
    name: row.name,
    policy_name: row.policy,
    policy_display_name: row.policyDisplayName,
    volume_name: row.volume,
    volume_display_name: row.volumeDisplayName,
    paused: yesNo(row.isPaused),
    last_run_at: row.lastRunAt === null ? null : formatUtc(row.lastRunAt),
    last_run_dry: row.lastRunAt === null ? null : yesNo(row.wasDryRun),
    matched_files: row.matchedFiles,
    matched_bytes: row.matchedBytes,
    handled_files: row.handledFiles,
    handled_bytes: row.handledBytes,
    changed_files: row.changedFiles,
    failed_files: row.failedFiles,
    last_run_problem: row.problem,
    matched_paths: [...row.sample],
    created_at: formatUtc(row.createdAt),
    modified_at: formatUtc(row.modifiedAt),
  };
}

function commaList(paths: readonly string[] | null): string | null {
  return paths?.join(',') ?? null;
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}

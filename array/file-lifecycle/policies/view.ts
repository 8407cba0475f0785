import { formatUtc } from '@granary/kernel';
import type { PolicyRow, RuleInPlace } from './repository.ts';

export function policyView(row: PolicyRow) {
  return {
    name: row.name,
    display_name: row.display_name,
    enabled: yesNo(row.is_enabled),
    dry_run_mode: yesNo(row.is_dry_run),
    use_recycle_bin: yesNo(row.uses_bin),
    file_selection_criteria: row.criteria,
    whitelist_paths: commaList(row.whitelist),
    blacklist_paths: commaList(row.blacklist),
    action: row.action,
    created_at: formatUtc(row.created_at),
    modified_at: formatUtc(row.modified_at),
  };
}

export function ruleView(row: RuleInPlace) {
  return {
    name: row.name,
    policy_name: row.policy,
    policy_display_name: row.policy_display_name,
    volume_name: row.volume,
    volume_display_name: row.volume_display_name,
    paused: yesNo(row.is_paused),
    last_run_at: row.last_run_at === null ? null : formatUtc(row.last_run_at),
    last_run_dry: row.last_run_at === null ? null : yesNo(row.was_dry_run),
    matched_files: row.matched_files,
    matched_bytes: row.matched_bytes,
    handled_files: row.handled_files,
    handled_bytes: row.handled_bytes,
    changed_files: row.changed_files,
    failed_files: row.failed_files,
    last_run_problem: row.problem,
    matched_paths: JSON.parse(row.sample) as string[],
    created_at: formatUtc(row.created_at),
    modified_at: formatUtc(row.modified_at),
  };
}

function commaList(json: string | null): string | null {
  return json === null ? null : (JSON.parse(json) as string[]).join(',');
}

function yesNo(value: number): 'YES' | 'NO' {
  return value === 1 ? 'YES' : 'NO';
}

import type { ArrayHandlers } from '../../handlers.ts';
import type { LifecyclePolicyService } from './service.ts';
import type { LifecycleSettings } from './settings.ts';
import { policyView, ruleView } from './view.ts';

export function lifecyclePolicyRoutes(
  service: LifecyclePolicyService,
  settings: LifecycleSettings,
): ArrayHandlers<'lifecyclePolicies'> {
  return {
    list: ({ first, number, order_by = 'name', descend, volume_name }) => {
      const order = { by: order_by, isDescending: descend };
      const { policies, count } = service.list(volume_name, order, { first, number });
      return { lc_policies: policies.map(policyView), count };
    },
    listRules: ({ first, number, volume_name, policy_name }) => {
      const { rules, count } = service.listRules({ volume: volume_name, policy: policy_name }, { first, number });
      return { lc_rules: rules.map(ruleView), count };
    },
    get: ({ id }) => ({ life_cycle_policy: policyView(service.get(id)) }),
    create: async (input, { actor }) => {
      const { display_name: displayName, file_selection_criteria: criteria, lc_action: action } = input;
      const { enabled: isEnabled, dry_run: isDryRun, use_recycle_bin: usesBin } = input;
      const wanted = { ...changeOf(input), displayName, criteria, action, isEnabled, isDryRun, usesBin };
      const policy = await service.create(wanted, actor.username);
      return { lc_policy_name: policy.name, life_cycle_policy: policyView(policy) };
    },
    update: async ({ id, ...input }, { actor }) => {
      await service.update(id, changeOf(input), actor.username);
      return { lc_policy_name: id };
    },
    delete: async ({ id }, { actor }) => {
      await service.delete(id, actor.username);
      return { lc_policy_name: id };
    },
    setSchedule: async ({ policy_start_time, policy_interval }, { actor }) => {
      const change = { startSeconds: policy_start_time, intervalSeconds: policy_interval };
      const { startSeconds, intervalSeconds } = await settings.setTimes(change, actor.username);
      return { policy_start_time: String(startSeconds), policy_interval: intervalSeconds };
    },
    scan: async ({ volume_name }, { actor }) => {
      await service.scan(volume_name, actor.username);
      return { volume_name };
    },
    setRecycleBin: async ({ retention_time }, { actor }) => {
      await settings.setRetention(retention_time, actor.username);
      return { retention_time: String(retention_time) };
    },
    pause: async ({ id, volume_name }, { actor }) => {
      await service.setPaused(id, volume_name, true, actor.username);
      return { lc_policy_name: id };
    },
    resume: async ({ id, volume_name }, { actor }) => {
      await service.setPaused(id, volume_name, false, actor.username);
      return { lc_policy_name: id };
    },
    attach: async ({ id, volume_name }, { actor }) => {
      await service.attach(id, volume_name, actor.username);
      return { lc_policy_name: id };
    },
    detach: async ({ id, volume_name }, { actor }) => {
      await service.detach(id, volume_name, actor.username);
      return { lc_policy_name: id };
    },
  };
}

interface PolicyInput {
  readonly display_name?: string | undefined;
  readonly file_selection_criteria?: Record<string, unknown> | undefined;
  readonly lc_action?: 'archive' | 'expire' | undefined;
  readonly enabled?: boolean | undefined;
  readonly dry_run?: boolean | undefined;
  readonly use_recycle_bin?: boolean | undefined;
  readonly whitelist_paths?: readonly string[] | undefined;
  readonly blacklist_paths?: readonly string[] | undefined;
  readonly dest_obs_name?: string | undefined;
}

function changeOf(input: PolicyInput) {
  return {
    displayName: input.display_name,
    criteria: input.file_selection_criteria,
    action: input.lc_action,
    isEnabled: input.enabled,
    isDryRun: input.dry_run,
    usesBin: input.use_recycle_bin,
    whitelist: input.whitelist_paths,
    blacklist: input.blacklist_paths,
    destination: input.dest_obs_name,
  };
}

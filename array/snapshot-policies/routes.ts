import { badParameter } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import type { SnapshotPolicyService } from './service.ts';
import { viewOf, viewOfAttached } from './view.ts';

export function snapshotPolicyRoutes(service: SnapshotPolicyService): ArrayHandlers<'snapshotPolicies'> {
  return {
    list: (page) => {
      const { policies, count } = service.list(page);
      return { snapshot_policies: policies.map(viewOf), count };
    },
    listOfGroup: ({ volume_cg_id, ...page }) => {
      const { policies, count } = service.listOfGroup(volume_cg_id, page);
      return { snapshot_policies: policies.map(viewOfAttached), count };
    },
    get: ({ id }) => ({ snapshot_policy: viewOf(service.get(id)) }),
    create: async (input, { actor }) => {
      const { display_name: displayName, create_policy: createPolicy, empty: createEmpty } = input;
      const wanted = { ...changeOf(input), displayName, createPolicy, createEmpty };
      return { snapshot_policy: viewOf(await service.create(wanted, actor.username)) };
    },
    update: async ({ id, ...input }, { actor }) => ({
      snapshot_policy: viewOf(await service.update(id, changeOf(input), actor.username)),
    }),
    delete: async ({ id }, { actor }) => {
      await service.delete(id, actor.username);
      return { snapshot_policy_name: id };
    },
    attach: async ({ id, policy, application }, { actor }) => ({
      snapshot_rule_name: await service.attach(id, policy, application, actor.username),
    }),
    detach: async ({ id, snaprule, delete_snapshots, force }, { actor }) => {
      await service.detach(id, snaprule, { deletesSnapshots: delete_snapshots, isForced: force }, actor.username);
      return { snapshot_rule_name: snaprule };
    },
    pause: async ({ snaprule, id }, { actor }) => {
      if (id !== undefined && id !== snaprule)
        throw badParameter('id', `must be ${snaprule}, as in the path, or left out`);
      await service.setPaused(snaprule, true, actor.username);
      return { snaprule_name: snaprule };
    },
    resume: async ({ snaprule }, { actor }) => {
      await service.setPaused(snaprule, false, actor.username);
      return { snaprule_name: snaprule };
    },
  };
}

interface PolicyInput {
  readonly display_name?: string | undefined;
  readonly create_policy?: string | undefined;
  readonly delete_policy?: string | undefined;
  readonly destination_policy?: string | undefined;
  readonly empty?: boolean | undefined;
}

function changeOf(input: PolicyInput) {
  return {
    displayName: input.display_name,
    createPolicy: input.create_policy,
    deletePolicy: input.delete_policy,
    destinationPolicy: input.destination_policy,
    createEmpty: input.empty,
  };
}

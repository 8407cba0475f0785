import { text, type Param } from '../params.ts';

/**
 * Identifiers as paths and parameters carry them. They have no pattern: an identifier of the wrong form is one that
 * does not exist, and is answered so.
 */
function id(what: string, example: string, group?: string, field = 'name'): Param<string, 'required'> {
  return { ...text(what, { max: 128, example }), ...(group !== undefined && { refers: { group, field } }) };
}

export const driveId = id('The drive', 'volume-00000001', 'drives');
export const raidGroupId = id('The RAID group', 'RaidGroup-1', 'raidGroups');
export const poolId = id('The pool', 'pool-00000001', 'pools');
export const volumeId = id('The volume or share', 'volume-00000001', 'volumes');
export const consistencyGroupId = id(
  "The volume's consistency group: its `cg_name`",
  'cg-00000001',
  'volumes',
  'cg_name',
);
export const snapshotId = id('The snapshot', 'snap-00000001', 'snapshots');
export const snapshotPolicyId = id('The snapshot policy', 'policy-00000001', 'snapshotPolicies');
export const snapshotRuleId = id('The rule that ties a snapshot policy to a volume', 'rule-00000001');
export const migrationGroupId = id(
  "The job's consistency group, by the name at its source or at its destination",
  'cg-00000001',
  'volumes',
  'cg_name',
);
export const projectId = id('The quota project', 'project-00000001');
export const categoryId = id('The category', 'category-00000001');
export const lifecyclePolicyId = id('The file lifecycle policy', 'lc-policy-00000001');
export const serverId = id('The server', 'srv-00000001', 'servers');
export const controllerId = id('The controller', 'vsa-00000001-vc-0', 'controllers');
export const mirrorJobId = id('The mirror job', 'srcjarray-00000001');
export const remoteArrayId = id('The remote array', 'rarray-00000001');
export const remotePoolId = id('The pool of the remote array', 'rpool-00000001');
export const destinationId = id('The object storage destination', 'obsdst-00000001', 'objectStorageDestinations');

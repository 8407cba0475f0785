import type { HostedConfiguration } from '@granary/kernel';
import type { Wanted } from '@granary/storage/objects';
import type { EngineManagement } from '../management.ts';

const GIGABYTE = 2 ** 30;

/** The drives and policies that the array's configuration gives it. */
export function wantedOf(
  { drives, policies }: HostedConfiguration,
  { defaultPolicy }: Pick<EngineManagement, 'defaultPolicy'>,
): Wanted {
  return {
    drives: drives.map(({ uuid, file, node, zone, capacityGb, policy }) => ({
      uuid,
      folder: file,
      node,
      zone,
      capacity: capacityGb * GIGABYTE,
      policy,
    })),
    policies: policies.map(({ name, replicas, dataFragments, parityFragments }) => ({
      name,
      copies: dataFragments > 0 ? 0 : replicas,
      dataFragments,
      parityFragments,
    })),
    defaultPolicy: defaultPolicy(),
  };
}

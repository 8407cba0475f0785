import { denialReason } from '@granary/contract/portal';
import type { portal } from '../../api/portal.ts';
import type { Reply } from '../../api/operations.ts';

/** An array as the portal's list has it. */
export type PortalArray = Reply<typeof portal.arrays.list.endpoint>['data'][number];
export type PortalCloud = Reply<typeof portal.clouds.list.endpoint>['data'][number];

/** Where the pages of the array itself are. */
export function manageAddress({ id, product }: Pick<PortalArray, 'id' | 'product'>): string {
  return `/arrays/${id}/${product === 'object_storage' ? 'objects' : 'block'}`;
}

/** Whether an administrator has yet to decide about the order. */
export function isWaiting({
  status,
  status_message: message,
}: Pick<PortalArray, 'status' | 'status_message'>): boolean {
  return status === 'creating' && message?.startsWith('Waiting') === true;
}

/** Why an administrator denied the order. */
export function reasonOfDenial({
  status,
  status_message: message,
}: Pick<PortalArray, 'status' | 'status_message'>): string | undefined {
  return denialReason({ status, message });
}

/** The state in the words of people: an order that waits or was denied is not an array that is made or failed. */
export function stateWords(array: Pick<PortalArray, 'status' | 'status_message'>): string {
  if (isWaiting(array)) return 'waiting for approval';
  return reasonOfDenial(array) === undefined ? array.status : 'denied';
}

interface PolicyType {
  readonly id: number;
  readonly name: string;
  readonly replicas: number;
  readonly data_fragments: number;
  readonly parity_fragments: number;
}

/** Each copy or fragment is on a drive of its own. */
export function drivesNeeded({ replicas, data_fragments: data, parity_fragments: parity }: PolicyType): number {
  return data > 0 ? data + parity : replicas;
}

/** How a cloud can keep objects: a text of JSON in its record. */
export function policyTypesOf(cloud: PortalCloud): readonly PolicyType[] {
  const text = cloud.array_zone_group_storage_policy_types.array_zone_group_storage_policy_type;
  try {
    return JSON.parse(text) as PolicyType[];
  } catch {
    return [];
  }
}

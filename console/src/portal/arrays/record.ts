import type { portal } from '../../api/portal.ts';
import type { Reply } from '../../api/operations.ts';

/** An array as the portal's list has it. */
export type PortalArray = Reply<typeof portal.arrays.list.endpoint>['data'][number];
export type PortalCloud = Reply<typeof portal.clouds.list.endpoint>['data'][number];

/** Where the pages of the array itself are. */
export function manageAddress({ id, product }: Pick<PortalArray, 'id' | 'product'>): string {
  return `/arrays/${id}/${product === 'object_storage' ? 'objects' : 'block'}`;
}

import { objectsRoles, type ObjectsRole } from '@granary/contract/objects';
import type { ObjectsHandlers } from '../handlers.ts';

export const roleRoutes: ObjectsHandlers<'roles'> = {
  list: () => ({ roles: objectsRoles.map(roleView) }),
};

/** Roles are fixed, so their place in the list is their id. */
export function roleView(name: ObjectsRole): { name: ObjectsRole; id: string } {
  return { name, id: String(objectsRoles.indexOf(name) + 1) };
}

import type { Access } from '../endpoint.ts';

export { anyone } from '../endpoint.ts';

export const objectsRoles = ['objs_admin', 'account_admin', 'member'] as const;
export type ObjectsRole = (typeof objectsRoles)[number];

export const adminOnly: Access = { roles: ['objs_admin'] };
/** Any signed-in user; replies hold what they may see. */
export const signedIn: Access = { roles: objectsRoles };
/** The administrator of the array, or of the account that the call is about. */
export const accountAdmins: Access = { roles: ['objs_admin', 'account_admin'], owned: true };

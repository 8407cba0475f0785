import type { Access } from '../endpoint.ts';

export { anyone } from '../endpoint.ts';

export const portalRoles = ['admin', 'user'] as const;
export type PortalRole = (typeof portalRoles)[number];

export const adminOnly: Access = { roles: ['admin'] };
/** Any signed-in user; lists hold what they may see. */
export const signedIn: Access = { roles: portalRoles };
/** The administrator, or the user it belongs to. */
export const ownerOnly: Access = { roles: portalRoles, owned: true };

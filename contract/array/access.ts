import type { Access } from '../endpoint.ts';

export { anyone } from '../endpoint.ts';

export const arrayRoles = ['admin', 'user'] as const;
export type ArrayRole = (typeof arrayRoles)[number];

export const adminOnly: Access = { roles: ['admin'] };
export const signedIn: Access = { roles: arrayRoles };

import type { Access } from '../endpoint.ts';

export { anyone } from '../endpoint.ts';

export const arrayRoles = ['admin', 'user'] as const;
export type ArrayRole = (typeof arrayRoles)[number];

export const adminOnly: Access = { roles: ['admin'] };
export const signedIn: Access = { roles: arrayRoles };

/** What belongs to its creator, or to the creator of its volume. Everything else is the administrator's to change. */
export const createdKinds = [
  'volume',
  'consistency_group',
  'snapshot',
  'snapshot_policy',
  'snapshot_rule',
  'snapshot_set',
  'migration',
  'mirror_job',
  'server',
] as const;
export type CreatedKind = (typeof createdKinds)[number];

/** The administrator, or the creator of what the parameter names; of several, all of them. */
export function creatorOf(kind: CreatedKind, param = 'id', also?: { kind: CreatedKind; param: string }): Access {
  return { roles: arrayRoles, creator: { kind, param, ...(also && { also }) } };
}

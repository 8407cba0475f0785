import { endpoint, type Group } from '../endpoint.ts';
import { listOf, oneOf, record, str } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, objectsRoles } from './access.ts';

export const Role = record('Role', { name: oneOf(...objectsRoles), id: str() });

export const roles = {
  list: endpoint('GET', '/objs/roles', {
    summary: 'List the roles a user can have',
    access: adminOnly,
    reply: response({ roles: listOf(Role) }),
  }),
} satisfies Group;

import { endpoint, type Group } from '../endpoint.ts';
import { boolean, choice, optional, page, recordNumber, secret, text, withDefault } from '../params.ts';
import { bool, int, listOf, nullable, oneOf, record, str, utc } from '../records.ts';
import { success } from '../reply.ts';
import { adminOnly, portalRoles } from './access.ts';

export const User = record('User', {
  id: int(),
  username: str(),
  email: nullable(str()),
  role: oneOf(...portalRoles),
  auto_approved: bool('Orders act at once instead of waiting for an administrator'),
  enabled: bool('False while an administrator keeps the user from signing in'),
  locked: bool('Sign-in is refused at present: the user is disabled, or too many wrong passwords came from an address'),
  totp: bool('Signing in needs a code of an authenticator app'),
  created_at: utc(),
  updated_at: utc(),
});

const userId = recordNumber('The user');
export const password = secret('At least 8 characters', { min: 8, max: 256, example: 'correct horse battery' });
export const email = text('Mail address', {
  max: 254,
  pattern: '^[^@\\s]+@[^@\\s]+$',
  form: 'a mail address',
  example: 'ann@example.org',
});
const role = choice(portalRoles, 'What the user may do', { example: 'user' });
const autoApproved = boolean("Whether the user's orders need no approval");

export const users = {
  list: endpoint('GET', '/users', {
    summary: 'List the users',
    access: adminOnly,
    params: page,
    reply: success({ data: listOf(User) }),
  }),
  get: endpoint('GET', '/users/{id}', {
    summary: 'Show one user',
    access: adminOnly,
    params: { id: userId },
    reply: success({ data: User }),
    errors: ['not_found'],
  }),
  create: endpoint('POST', '/users', {
    summary: 'Add a user',
    access: adminOnly,
    params: {
      username: text('Name to sign in with', {
        max: 64,
        pattern: '^[A-Za-z0-9][A-Za-z0-9._@-]*$',
        form: 'letters, digits, dots, dashes, underscores and @',
        example: 'ann',
      }),
      password,
      email: optional(email),
      role: withDefault(role, 'user'),
      auto_approved: withDefault(autoApproved, false),
    },
    reply: success({ data: User }),
    errors: ['name_taken'],
  }),
  update: endpoint('PUT', '/users/{id}', {
    summary: 'Change a user; a new password takes effect at once and revokes the token',
    access: adminOnly,
    params: {
      id: userId,
      password: optional(password),
      email: optional(email),
      role: optional(role),
      auto_approved: optional(autoApproved),
    },
    reply: success({ data: User }),
    errors: ['not_found', 'last_admin'],
  }),
  disable: endpoint('POST', '/users/{id}/disable', {
    summary: 'Keep a user from signing in from the next request on; their arrays keep running',
    access: adminOnly,
    params: { id: userId },
    reply: success({ data: User }),
    errors: ['not_found', 'last_admin', 'state_conflict'],
  }),
  enable: endpoint('POST', '/users/{id}/enable', {
    summary: 'Let a disabled user sign in again',
    access: adminOnly,
    params: { id: userId },
    reply: success({ data: User }),
    errors: ['not_found'],
  }),
  revokeTokens: endpoint('POST', '/users/{id}/revoke_tokens', {
    summary: 'Revoke every token of a user; a new one is had with the password',
    access: adminOnly,
    params: { id: userId },
    reply: success({ data: User }),
    errors: ['not_found'],
  }),
  removeTotp: endpoint('DELETE', '/users/{id}/totp', {
    summary: 'Switch two-factor sign-in of another user off who lost the device; it ends their sessions',
    access: adminOnly,
    params: { id: userId },
    reply: success({ data: User }),
    errors: ['not_found', 'state_conflict'],
  }),
  delete: endpoint('DELETE', '/users/{id}', {
    summary: 'Remove a user who owns nothing any more; past bills keep the name',
    access: adminOnly,
    params: { id: userId },
    reply: success({}),
    errors: ['not_found', 'last_admin', 'in_use'],
  }),
} satisfies Group;

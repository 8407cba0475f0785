import { endpoint, type Group } from '../endpoint.ts';
import { boolean, choice, integer, name, page, text, withDefault } from '../params.ts';
import { int, listOf, shownOnce, str, utc } from '../records.ts';
import { response } from '../reply.ts';
import { accountAdmins, adminOnly, objectsRoles } from './access.ts';
import { accountId } from './accounts.ts';
import { metering, objectRequests } from './metering.ts';
import { signIn } from './sign-in.ts';
import { S3Credentials, User, UserDetail } from './user-records.ts';

const userId = text('The user: its number, or its id of 32 hex digits', { max: 64, example: '1' });
const username = name('Name to sign in with', { example: 'dana' });
const role = choice(objectsRoles, 'What the user may do', { example: 'member' });

export const users = {
  list: endpoint('GET', '/objs/users', {
    summary: 'List the users',
    access: accountAdmins,
    params: page,
    reply: response({ users: listOf(User), count: int() }),
  }),
  get: endpoint('GET', '/objs/users/{id}', {
    summary: 'Show one user',
    access: accountAdmins,
    params: { id: userId },
    reply: response({ user: UserDetail }),
    errors: ['objs_user_not_found'],
  }),
  create: endpoint('POST', '/objs/users', {
    summary: 'Create a user; the code returned sets the first password',
    access: accountAdmins,
    params: {
      username,
      email: text('Mail address', { min: 3, max: 254, example: 'dana@example.org' }),
      account_id: accountId,
      notify_on_events: withDefault(boolean('Whether events are mailed to the user'), false),
      role,
    },
    reply: response({ code: shownOnce('temporary code', 'Temporary code for POST /users/{username}/password_code') }),
    errors: ['account_not_found', 'name_taken', 'objs_state_conflict', 'objs_limit_reached'],
  }),
  delete: endpoint('DELETE', '/objs/users/{id}', {
    summary: 'Delete a user',
    access: accountAdmins,
    params: { id: userId },
    reply: response({}),
    errors: ['objs_user_not_found', 'last_admin', 'objs_state_conflict'],
  }),
  enable: endpoint('POST', '/objs/users/{user_id}/enable', {
    summary: 'Let a disabled user in again',
    access: accountAdmins,
    params: { user_id: userId },
    reply: response({}),
    errors: ['objs_user_not_found', 'objs_state_conflict'],
  }),
  disable: endpoint('POST', '/objs/users/{user_id}/disable', {
    summary: 'Keep a user out',
    access: accountAdmins,
    params: { user_id: userId },
    reply: response({}),
    errors: ['objs_user_not_found', 'last_admin', 'objs_state_conflict'],
  }),
  changeRole: endpoint('POST', '/objs/users/{user_id}/change_role', {
    summary: 'Give a user another role',
    access: accountAdmins,
    params: { user_id: userId, role },
    reply: response({}),
    errors: ['objs_user_not_found', 'last_admin', 'objs_state_conflict'],
  }),
  resetS3Secret: endpoint('POST', '/objs/users/reset_s3_secret', {
    summary: 'Replace the S3 secret key of a user',
    access: accountAdmins,
    params: { username, account: name('Name or id of the account', { example: 'webhosting' }) },
    reply: response({ credentials: listOf(S3Credentials), count: int() }),
    errors: ['account_not_found', 'objs_user_not_found', 'objs_state_conflict'],
  }),
  presign: endpoint('POST', '/objs/users/presign', {
    summary: "Make a link to one object, signed with the caller's own S3 key: who has it needs no other",
    access: { roles: objectsRoles },
    params: {
      bucket: text('The bucket', { max: 255, example: 'pages' }),
      key: text('The key of the object', { max: 1024, example: 'index.html' }),
      method: withDefault(choice(['GET', 'PUT'], 'Whether it downloads or uploads', { example: 'GET' }), 'GET'),
      expires: withDefault(
        integer('How many seconds it is good for: 7 days at most', { min: 1, max: 604_800, example: 3600 }),
        3600,
      ),
    },
    reply: response({ url: str('On the data address of the array'), expires_at: utc() }),
  }),
  ...signIn,
  enableAdminAccess: endpoint('POST', '/users/admin_access/enable', {
    summary: 'Let the administrator of the array reach the data of the accounts',
    access: adminOnly,
    reply: response({ message: str() }),
  }),
  disableAdminAccess: endpoint('POST', '/users/admin_access/disable', {
    summary: 'Keep the administrator of the array away from the data of the accounts',
    access: adminOnly,
    reply: response({ message: str() }),
  }),
  ...metering('/objs/users/{id}', {
    subject: 'a user',
    access: accountAdmins,
    params: { id: userId, ...objectRequests },
    errors: ['objs_user_not_found'],
  }),
} satisfies Group;

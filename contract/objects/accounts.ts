import { endpoint, type Group } from '../endpoint.ts';
import { boolean, choice, integer, name, optional, page, text } from '../params.ts';
import { bool, int, listOf, nullable, num, oneOf, record, str } from '../records.ts';
import { fileReply, response } from '../reply.ts';
import { accountAdmins, adminOnly } from './access.ts';
import { capacityOverTime, metering, objectRequests } from './metering.ts';
import { AccountUser } from './user-records.ts';
import { waiting, worked } from './waiting.ts';

export const Account = record('Account', {
  update_time: str('Seconds since 1970'),
  name: str(),
  is_system_account: oneOf('True', 'False'),
  public_url_list: listOf(str('Where its containers are served')),
  enabled: oneOf('True', 'False'),
  email: nullable(str()),
  state: str('`normal`, `deleting` or `deleted`'),
  create_time: str('Seconds since 1970'),
  id: str('32 hex digits'),
  description: nullable(str('What it was given; how much is left while it is being deleted')),
  used_capacity: num('GB that its objects hold, each counted once'),
  containers: int(),
  objects: int('All versions of them'),
});

export const accountId = text('Id of the account', { max: 64, example: '0123456789abcdef0123456789abcdef' });

export const accounts = {
  list: endpoint('GET', '/objs/accounts', {
    summary: 'List the accounts',
    access: adminOnly,
    params: {
      ...page,
      filter_field: optional(choice(['name', 'id'], 'Field that `filter_value` is looked for in')),
      filter_value: optional(text('Keeps the accounts whose field contains this text', { example: 'web' })),
    },
    reply: response({ accounts: listOf(Account), count: int() }),
  }),
  get: endpoint('GET', '/objs/accounts/{account_id}', {
    summary: 'Show one account',
    access: accountAdmins,
    params: { account_id: accountId },
    reply: response({ count: Account }),
    errors: ['account_not_found'],
  }),
  listUsers: endpoint('GET', '/objs/accounts/{account_id}/users', {
    summary: 'List the users of an account',
    access: accountAdmins,
    params: { account_id: accountId },
    reply: response({ users: listOf(AccountUser), count: int() }),
    errors: ['account_not_found'],
  }),
  create: endpoint('POST', '/objs/accounts', {
    summary: 'Create an account',
    access: adminOnly,
    params: {
      name: name('Name of the account', { example: 'webhosting' }),
      description: optional(text('What it is for', { max: 500, example: 'Pictures of the shop' })),
    },
    reply: response({ count: str('Id of the new account, which this reply has under `count`') }),
    errors: ['name_taken', 'objs_limit_reached'],
  }),
  delete: endpoint('DELETE', '/objs/accounts/{account_id}', {
    summary: 'Delete an account with its users, containers and objects',
    access: adminOnly,
    params: { account_id: accountId, force: boolean('Must be YES: says that the data may go too'), ...waiting },
    reply: worked,
    job: { until: ['deleted'] },
    errors: ['account_not_found', 'objs_state_conflict'],
  }),
  cleanUp: endpoint('DELETE', '/objs/accounts/{account_id}/cleanup', {
    summary: 'Remove the billing data that a deleted account left',
    access: adminOnly,
    params: { account_id: accountId, ...waiting },
    reply: worked,
    job: { until: ['deleted'] },
    errors: ['account_not_found', 'objs_state_conflict'],
  }),
  disable: endpoint('POST', '/objs/accounts/{account_id}/disable', {
    summary: 'Keep the users of an account out; its data stays',
    access: adminOnly,
    params: { account_id: accountId },
    reply: response({}),
    errors: ['account_not_found', 'objs_state_conflict'],
  }),
  enable: endpoint('POST', '/objs/accounts/{account_id}/enable', {
    summary: 'Let the users of a disabled account in again',
    access: adminOnly,
    params: { account_id: accountId },
    reply: response({}),
    errors: ['account_not_found', 'objs_state_conflict'],
  }),
  export: endpoint('GET', '/objs/accounts/export', {
    summary:
      'Download the accounts as CSV: Name, ID, Status, Used Capacity (GiB), Containers, Objects and Enabled of each',
    access: adminOnly,
    reply: fileReply('text/csv'),
  }),
  getRateLimit: endpoint('GET', '/objs/accounts/{account_id}/rate_limit', {
    summary: 'Show how fast the data of an account may be changed',
    access: accountAdmins,
    params: { account_id: accountId },
    reply: response({
      enabled: bool('Whether the account has a limit of its own'),
      rate_limit: nullable(int('Changes a second that hold now; null for as many as it likes')),
    }),
    errors: ['account_not_found'],
  }),
  setDescription: endpoint('POST', '/objs/accounts/{account_id}/description', {
    summary: 'Say what an account is for',
    access: accountAdmins,
    params: {
      account_id: accountId,
      description: text('What it is for; empty to remove it', { min: 0, max: 500, example: 'Pictures of the shop' }),
    },
    reply: response({}),
    errors: ['account_not_found', 'objs_state_conflict'],
  }),
  setRateLimit: endpoint('POST', '/objs/accounts/{account_id}/rate_limit', {
    summary: 'Give an account a limit of its own in place of the global one',
    access: adminOnly,
    params: {
      account_id: accountId,
      enabled: boolean('Whether it has one; without, the global one holds'),
      rate_limit: optional(
        integer('PUT, POST, DELETE and COPY requests a second; 0 for as many as it likes', {
          max: 1_000_000,
          example: 100,
        }),
      ),
    },
    reply: response({}),
    errors: ['account_not_found', 'objs_state_conflict'],
  }),
  capacity: capacityOverTime('/objs/accounts/{id}', {
    subject: 'an account',
    access: accountAdmins,
    params: { id: accountId },
    errors: ['account_not_found'],
  }),
  ...metering('/objs/accounts/{id}', {
    subject: 'an account',
    access: accountAdmins,
    params: { id: accountId, ...objectRequests },
    errors: ['account_not_found'],
  }),
} satisfies Group;

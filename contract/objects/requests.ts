import type { Static } from 'typebox';
import { endpoint, type Group } from '../endpoint.ts';
import { choice, json, optional, recordNumber } from '../params.ts';
import { int, listOf, nullable, record, str, utc } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, anyone } from './access.ts';
import { numberedPages } from './paging.ts';
import { Type } from '../schema.ts';

export const AccountRequest = record('AccountRequest', {
  id: int(),
  arguments: record('RequestedAccount', { username: str(), account: str(), email: str() }),
  action: str('`register_account`'),
  decided_by: nullable(str('Username of the administrator who decided')),
  decided_at: nullable(utc()),
  requested_at: utc(),
});

const Registration = Type.Object({
  username: Type.String({ minLength: 1, maxLength: 128, description: 'Its first user, who administers it' }),
  account: Type.String({ minLength: 1, maxLength: 128, description: 'Name of the account' }),
  email: Type.String({ minLength: 3, maxLength: 254, description: 'Address of that user' }),
  password: Type.String({ minLength: 1, maxLength: 128, format: 'password', description: 'Password of that user' }),
});

/** Secret as a whole, because it holds the password. */
const registration = {
  ...json<Static<typeof Registration>>(Registration, 'The account that is asked for', {
    example: { username: 'dana', account: 'webhosting', email: 'dana@example.org', password: 'Pick-Your-0wn' },
  }),
  secret: true as const,
};

const requestId = recordNumber('The request');

export const requests = {
  list: endpoint('GET', '/requests', {
    summary: 'List the requests for accounts',
    access: adminOnly,
    params: {
      state: optional(choice(['pending', 'approved', 'denied'], 'Keeps the requests in this state')),
      ...numberedPages,
    },
    reply: response({ requests: listOf(AccountRequest), count: int() }),
  }),
  create: endpoint('POST', '/requests', {
    summary: 'Ask for an account',
    access: anyone,
    params: { request_action: choice(['register_account'], 'What is asked for'), arguments: registration },
    reply: response({ request_id: int() }),
    errors: ['password_rules', 'objs_limit_reached', 'too_many_requests'],
  }),
  approve: endpoint('POST', '/requests/{id}/approve', {
    frees: true,
    summary: 'Create the account a request asks for',
    access: adminOnly,
    params: { id: requestId },
    reply: response({ count: str('Id of the new account, which this reply has under `count`') }),
    errors: ['request_not_found', 'already_decided', 'name_taken', 'objs_limit_reached'],
  }),
  deny: endpoint('POST', '/requests/{id}/deny', {
    frees: true,
    summary: 'Turn a request down',
    access: adminOnly,
    params: { id: requestId },
    reply: response({ request_id: int() }),
    errors: ['request_not_found', 'already_decided'],
  }),
} satisfies Group;

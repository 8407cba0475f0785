import { anyone, endpoint, type Group } from '../endpoint.ts';
import { optional } from '../params.ts';
import { record, shownOnce } from '../records.ts';
import { success } from '../reply.ts';
import { credentials, totpCode } from './credentials.ts';

const params = { ...credentials, code: optional(totpCode) };

const token = success({ data: record('Token', { token: shownOnce('token', 'Send it as X-Token') }) });

export const tokens = {
  get: endpoint('POST', '/token', {
    summary: 'Get your API token; it stays the same until it is reset',
    access: anyone,
    params,
    reply: token,
    errors: ['invalid_credentials', 'too_many_attempts', 'code_needed', 'wrong_code', 'user_disabled'],
  }),
  reset: endpoint('POST', '/token/reset', {
    summary: 'Replace your API token: the old one stops working at once',
    access: anyone,
    params,
    reply: token,
    errors: ['invalid_credentials', 'too_many_attempts', 'code_needed', 'wrong_code', 'user_disabled'],
  }),
} satisfies Group;

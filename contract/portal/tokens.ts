import { anyone, endpoint, type Group } from '../endpoint.ts';
import { secret, text } from '../params.ts';
import { record, str } from '../records.ts';
import { success } from '../reply.ts';

const credentials = {
  username: text('The portal user', { max: 128, example: 'admin' }),
  password: secret("The user's password", { max: 256, example: 'correct horse battery' }),
};

const token = success({ data: record('Token', { token: str('Send it as X-Token') }) });

export const tokens = {
  get: endpoint('POST', '/token', {
    summary: 'Get your API token; it stays the same until it is reset',
    access: anyone,
    params: credentials,
    reply: token,
    errors: ['invalid_credentials', 'too_many_attempts'],
  }),
  reset: endpoint('POST', '/token/reset', {
    summary: 'Replace your API token: the old one stops working at once',
    access: anyone,
    params: credentials,
    reply: token,
    errors: ['invalid_credentials', 'too_many_attempts'],
  }),
} satisfies Group;

import { endpoint, type Group } from '../endpoint.ts';
import { choice } from '../params.ts';
import { oneOf } from '../records.ts';
import { envelope, success } from '../reply.ts';
import { adminOnly } from './access.ts';

const levels = ['debug', 'info'] as const;

export const settings = {
  getLogLevel: endpoint('GET', '/settings/log_level', {
    summary: 'How much the portal logs',
    access: adminOnly,
    reply: envelope({}, { log_level: oneOf(...levels) }),
  }),
  setLogLevel: endpoint('PUT', '/settings/log_level', {
    summary: 'Change how much the portal logs, at once and for good',
    access: adminOnly,
    params: { log_level: choice(levels, 'debug also logs every request', { example: 'info' }) },
    reply: success({}),
  }),
} satisfies Group;

import type { TProperties } from 'typebox';
import { endpoint, type Access } from './endpoint.ts';
import { nullable, secretText, shownOnce } from './records.ts';
import type { RecordReply } from './reply.ts';

const DESCRIPTION = 'Send it as `Authorization: Bearer` to /metrics';

/** Settings that every service has: the token that lets a program on another machine read its metrics. */
export function metricsTokenEndpoints(
  administrators: Access,
  reply: <F extends TProperties>(fields: F) => RecordReply<F>,
) {
  return {
    getMetricsToken: endpoint('GET', '/settings/metrics_token', {
      summary: 'Show the token that reads /metrics from other machines; null when there is none',
      access: administrators,
      reply: reply({ metrics_token: nullable(secretText('metrics token', DESCRIPTION)) }),
    }),
    createMetricsToken: endpoint('POST', '/settings/metrics_token', {
      summary: 'Make a new token that reads /metrics and nothing else; the one before ends',
      access: administrators,
      reply: reply({ metrics_token: shownOnce('metrics token', DESCRIPTION) }),
    }),
    deleteMetricsToken: endpoint('DELETE', '/settings/metrics_token', {
      summary: 'Remove the token that reads /metrics',
      access: administrators,
      reply: reply({}),
    }),
  };
}

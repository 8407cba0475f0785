import { endpoint, type Group } from '../endpoint.ts';
import { metricsTokenEndpoints } from '../metrics-token.ts';
import { choice, integer } from '../params.ts';
import { int, oneOf } from '../records.ts';
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
  getArrayRetention: endpoint('GET', '/settings/array_retention', {
    summary: 'How long deleted arrays can be undeleted',
    access: adminOnly,
    reply: success({ retention_hours: int() }),
  }),
  setArrayRetention: endpoint('PUT', '/settings/array_retention', {
    summary: 'Change how long arrays that are deleted from now on can be undeleted',
    access: adminOnly,
    params: {
      retention_hours: integer('Hours; 0 removes an array at once when it is deleted', { max: 8760, example: 24 }),
    },
    reply: success({}),
  }),
  getNetworksPerUser: endpoint('GET', '/settings/networks_per_user', {
    summary: 'How many virtual networks a user may have at a cloud',
    access: adminOnly,
    reply: success({ networks_per_user: int() }),
  }),
  setNetworksPerUser: endpoint('PUT', '/settings/networks_per_user', {
    summary: 'Change how many virtual networks a user may have at a cloud',
    access: adminOnly,
    params: {
      networks_per_user: integer('Networks; administrators may add more for a user', { max: 4094, example: 16 }),
    },
    reply: success({}),
  }),
  ...metricsTokenEndpoints(adminOnly, success),
} satisfies Group;

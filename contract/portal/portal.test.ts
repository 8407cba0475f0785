import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations, pathParams } from '../endpoint.ts';
import { specifiedEndpoints } from '../specified.ts';
import { portalApi } from './index.ts';

const declared = operations(portalApi).map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`);

/** What our decisions add to the specification. */
const additions = [
  'POST /sessions',
  'GET /sessions/current',
  'DELETE /sessions/current',
  'GET /sessions',
  'DELETE /sessions/{id}',
  'GET /settings/sessions',
  'PUT /settings/sessions',
  'GET /pricing/items',
  'POST /pricing/items',
  'DELETE /pricing/items',
  'GET /billing_summary',
  'GET /me',
  'PUT /me',
  'POST /array_requests/{id}/withdraw',
  'POST /me/totp',
  'POST /me/totp/confirm',
  'DELETE /me/totp',
  'DELETE /users/{id}/totp',
  'GET /settings/mail',
  'PUT /settings/mail',
  'GET /webhooks',
  'POST /webhooks',
  'GET /webhooks/{id}',
  'PUT /webhooks/{id}',
  'DELETE /webhooks/{id}',
  'POST /webhooks/{id}/test',
  'GET /settings/metrics_token',
  'POST /settings/metrics_token',
  'DELETE /settings/metrics_token',
  'GET /overview',
  'GET /forecasts',
  'GET /search',
  'GET /changes',
  'GET /messages',
  'GET /users',
  'GET /users/{id}',
  'POST /users',
  'PUT /users/{id}',
  'DELETE /users/{id}',
  'POST /users/{id}/disable',
  'POST /users/{id}/enable',
  'POST /users/{id}/revoke_tokens',
  'GET /arrays/{array_id}/contents',
  'GET /arrays/{array_id}/identity',
  'GET /accounts',
  'GET /computes',
  'GET /computes/{id}',
  'DELETE /computes/{id}',
  'POST /arrays/{array_id}/undelete',
  'POST /arrays/{array_id}/enable_file_lifecycle',
  'POST /arrays/{array_id}/lock_down',
  'POST /arrays/{array_id}/release',
  'POST /arrays/{array_id}/purge',
  'GET /settings/array_retention',
  'PUT /settings/array_retention',
  'GET /settings/networks_per_user',
  'PUT /settings/networks_per_user',
  'POST /clouds/{id}/adopt',
  'POST /clouds/{id}/recover_arrays',
  'POST /clouds/join_code',
  'POST /clouds/join',
  'GET /clouds/authority',
];

test('every portal endpoint of the specification is declared, spelt as there', () => {
  const expected = [...specifiedEndpoints('portal'), ...additions];
  const message = 'an endpoint of our own is a line in additions above and in docs/decisions/portal-behaviour.md';
  assert.deepEqual([...declared].sort(), expected.sort(), message);
});

test('every path parameter is a declared parameter', () => {
  for (const { id, endpoint } of operations(portalApi)) {
    for (const name of pathParams(endpoint.path)) assert.ok(endpoint.params[name], `${id} lacks ${name}`);
  }
});

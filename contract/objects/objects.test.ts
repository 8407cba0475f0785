import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import { operations, pathParams } from '../endpoint.ts';
import { objectsApi } from './index.ts';

const specified = readFileSync(new URL('../endpoints.tsv', import.meta.url), 'utf8')
  .split('\n')
  .map((line) => line.split('\t'))
  .filter(([api]) => api === 'objects')
  .map(([, , method, path]) => `${method} ${path}`);

/** Ours: what an administrator needs and the specification does not have. */
const additions = [
  'GET /forecasts',
  'GET /search',
  'GET /changes',
  'POST /sessions',
  'GET /sessions/current',
  'DELETE /sessions/current',
  'GET /sessions',
  'DELETE /sessions/{id}',
  'GET /settings/sessions',
  'PUT /settings/sessions',
  'GET /webhooks',
  'POST /webhooks',
  'GET /webhooks/{id}',
  'PUT /webhooks/{id}',
  'DELETE /webhooks/{id}',
  'POST /webhooks/{id}/test',
  'GET /settings/metrics_token',
  'POST /settings/metrics_token',
  'DELETE /settings/metrics_token',
  'POST /objs/users/presign',
  'POST /objs/accounts/{account_id}/description',
  'GET /objs/accounts/{account_id}/rate_limit',
  'POST /objs/accounts/{account_id}/rate_limit',
  'GET /objs/accounts/{account_id}/object_storage_destinations',
  'GET /objs/accounts/{id}/capacity',
  'GET /objs/policies/{id}/capacity',
  'GET /objs/object_storage_destinations/{ext-name}/grants',
  'POST /objs/object_storage_destinations/{ext-name}/grants',
  'DELETE /objs/object_storage_destinations/{ext-name}/grants/{account_id}',
  'POST /objs/settings/mail_server',
  'GET /objs/settings/notification_hosts',
  'POST /objs/settings/notification_hosts',
  'POST /objs/settings/password_rules',
];

test('the objects API has every specified endpoint, and beyond them only those decided on', () => {
  const declared = operations(objectsApi).map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`);
  assert.equal(specified.length, 91);
  const message = 'an endpoint of our own is a line in additions above and in docs/decisions';
  assert.deepEqual(declared.toSorted(), [...specified, ...additions].toSorted(), message);
});

for (const { id, endpoint } of operations(objectsApi)) {
  test(`${id} declares its path parameters`, () => {
    for (const name of pathParams(endpoint.path)) assert.equal(endpoint.params[name]?.presence, 'required', name);
  });

  test(`${id} describes its parameters, with an example of each that must be sent`, () => {
    for (const [name, param] of Object.entries(endpoint.params)) {
      assert.notEqual(param.description, '', name);
      if (param.presence === 'required') assert.ok(Value.Check(param.schema, param.example), name);
    }
  });

  test(`${id} takes a timeout exactly when it starts a job`, () => {
    assert.equal('timeout' in endpoint.params, endpoint.job !== undefined);
  });
}

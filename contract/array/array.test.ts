import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import { operations, pathParams } from '../endpoint.ts';
import { specifiedEndpoints } from '../specified.ts';
import type { Param } from '../params.ts';
import { arrayApi } from './index.ts';

/** Served because clients use them, though the specification does not list them. */
const decided = [
  'POST /users/login',
  'POST /users/{name}/access_key',
  'GET /users',
  'POST /users',
  'GET /forecasts',
  'GET /search',
  'GET /changes',
  'GET /messages',
  'GET /snapshots',
  'GET /snapshots/{id}',
  'POST /snapshots/{id}/rename',
  'POST /volumes/{id}/update_comment',
  'GET /snapshot_policies',
  'POST /snapshot_policies',
  'GET /snapshot_policies/{id}',
  'PUT /snapshot_policies/{id}',
  'DELETE /snapshot_policies/{id}',
  'DELETE /remote_arrays/{id}',
  'GET /remote_arrays/{id}/pools',
  'GET /object_storage_destinations',
  'POST /object_storage_destinations',
  'GET /nas/users',
  'POST /nas/users',
  'GET /nas/groups',
  'POST /nas/groups',
];

/** Ours: what an administrator needs and neither document has. */
const additions = [
  'GET /creators/{kind}',
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
  'POST /volumes/{id}/restore_snapshot',
  'POST /volumes/{id}/undelete',
  'POST /flc_policies/scan',
  'POST /vcontrollers/chap',
  'POST /drives/{id}/offline',
  'POST /drives/{id}/online',
  'POST /snapshot_policies/{snaprule}/resume',
  'PUT /users/{name}',
  'DELETE /users/{name}',
  'POST /users/password',
  'GET /settings',
  'PUT /settings',
  'POST /settings/encryption',
  'POST /settings/restore_encryption',
  'PUT /nas/users/{username}',
  'DELETE /nas/users/{username}',
  'DELETE /nas/groups/{groupname}',
  'POST /volumes/{id}/file_history/restore',
  'GET /volumes/{id}/file_history/restores',
];

const specified = specifiedEndpoints('array');
const declared = operations(arrayApi);

test('every endpoint of the specification is declared once, and beyond them only those decided on', () => {
  assert.equal(specified.length, 147);
  const routes = declared.map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`);
  const message = 'an endpoint of our own is a line in additions above and in docs/decisions/array-behaviour.md';
  assert.deepEqual(routes.toSorted(), [...specified, ...decided, ...additions].toSorted(), message);
});

test('every part of a path that varies is a required parameter', () => {
  for (const { id, endpoint } of declared)
    for (const part of pathParams(endpoint.path))
      assert.equal(endpoint.params[part]?.presence, 'required', `${id}: {${part}}`);
});

test('an endpoint takes timeout if and only if it starts a job', () => {
  for (const { id, endpoint } of declared) assert.equal('timeout' in endpoint.params, endpoint.job !== undefined, id);
});

test('examples and defaults are values their own parameter accepts, and required texts have an example', () => {
  for (const { id, endpoint } of declared)
    for (const [name, param] of Object.entries(endpoint.params)) {
      for (const value of [param.example, param.default].filter((one) => one !== undefined))
        assert.ok(Value.Check(param.schema, value), `${id}: ${name} does not accept ${JSON.stringify(value)}`);
      if (param.presence === 'required' && !['capacity', 'file'].includes(param.kind))
        assert.notEqual(param.example, undefined, `${id}: ${name} has no example`);
    }
});

test('a change keeps what is not sent: its parameters have no defaults left over from the creation', () => {
  const { volumes, servers, snapshotPolicies, lifecyclePolicies } = arrayApi.groups;
  for (const { params } of [volumes.update, servers.update, snapshotPolicies.update, lifecyclePolicies.update])
    for (const [name, param] of Object.entries<Param>(params))
      if (param.presence === 'optional') assert.ok(!('default' in param), name);
});

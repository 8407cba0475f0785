import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { portalApi } from '@granary/contract/portal';
import { createApiServer } from '@granary/kernel';
import type { PortalActor } from '../actor.ts';
import { ComputeService, type FileRequest } from '../tenants/computes/service.ts';
import { tenantRoutes } from '../tenants/routes.ts';
import { TenantService } from '../tenants/service.ts';
import { networkFixture } from './fixture.ts';
import { networkRoutes } from './routes.ts';

/** The routes of networks and tenants behind the real server; the token is the username. */
async function serve(context: TestContext) {
  const parts = await networkFixture(context);
  const { tools } = parts.fixture;
  const people = [parts.admin, parts.ann, parts.bob];
  const fileRequest: FileRequest = () => Promise.resolve({ decided: false, requestId: 7 });
  const app = await createApiServer<typeof portalApi, PortalActor>({
    ...tools,
    api: portalApi,
    version: 'test',
    authenticate: ({ headers }) => people.find(({ username }) => username === headers['x-token']),
    handlers: {
      ...networkRoutes(parts.networks, parts.vlans),
      ...tenantRoutes(new TenantService(tools), new ComputeService(tools), fileRequest),
    },
  });
  context.after(() => app.close());
  const call = async (token: string, method: 'GET' | 'POST' | 'DELETE', path: string, payload: object = {}) => {
    const reply = await app.inject({ method, url: `/api${path}`, headers: { 'x-token': token }, payload });
    return {
      status: reply.statusCode,
      total: Number(reply.headers['x-total-count'] ?? 0),
      body: reply.json<Record<string, unknown>>(),
    };
  };
  return { ...parts, call };
}

test('a VLAN is given, made the default, listed and taken back', async (context) => {
  const { call, local } = await serve(context);
  const vlan = { provider_id: local, vlan: 1001 };
  assert.equal((await call('admin', 'POST', '/vlans/allocate', vlan)).status, 200);
  assert.equal((await call('admin', 'POST', '/vlans/set_as_default', vlan)).status, 200);
  assert.deepEqual(await call('admin', 'GET', '/vlans'), {
    status: 200,
    total: 1,
    body: {
      status: 'success',
      data: [{ default: true, cloud_id: 1, provider_id: local, vlan_id: 1001, custom_networks: [], arrays: [] }],
    },
  });
  const free = await call('admin', 'GET', `/vlans/available_vlans_for_provider?provider_id=${local}`);
  assert.deepEqual(free.body['data'], [1000, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009]);
  assert.equal((await call('admin', 'POST', '/vlans/deallocate', vlan)).status, 200);
  assert.equal((await call('admin', 'POST', '/vlans/deallocate', vlan)).status, 404);
  assert.equal((await call('ann', 'POST', '/vlans/allocate', vlan)).status, 403);
});

test('a network is created with an empty vlan_id, listed and deleted', async (context) => {
  const { call, local, fixture, ann } = await serve(context);
  const tenant = fixture.tenantOf(ann, local);
  const input = {
    name: 'storage',
    provider_id: String(local),
    tenant_id: String(tenant),
    cidr: '10.0.0.0/24',
    vlan_id: '',
  };
  const network = { id: 1, vlan_id: 1000, tenant_id: tenant, provider_id: local, name: 'storage' };
  const made = await call('ann', 'POST', '/virtual_networks', input);
  assert.deepEqual(made.body, { status: 'success', data: network });
  const listed = await call('ann', 'GET', '/virtual_networks');
  assert.deepEqual([listed.total, listed.body['data']], [1, [network]]);
  assert.deepEqual((await call('bob', 'GET', '/virtual_networks')).body['data'], []);

  const gone = { provider_id: local, vlan: 1000 };
  assert.equal((await call('bob', 'DELETE', '/virtual_networks/1', gone)).status, 404);
  assert.deepEqual((await call('ann', 'DELETE', '/virtual_networks/1', gone)).body, {
    status: 'success',
    message: 'Virtual network storage was removed from VLAN 1000.',
  });
});

test('bad addresses answer 400 and name their parameters', async (context) => {
  const { call, local, fixture, ann } = await serve(context);
  const input = {
    name: 'x',
    provider_id: local,
    tenant_id: fixture.tenantOf(ann, local),
    cidr: '10.0.0.9/24',
    ipv6_gateway: 'fd00::1',
  };
  assert.deepEqual(await call('ann', 'POST', '/virtual_networks', input), {
    status: 400,
    total: 0,
    body: {
      status: 'error',
      message: 'cidr must start at its network address, as 10.0.0.0/24 does; ipv6_gateway needs ipv6_cidr beside it.',
      errors: [
        { field: 'cidr', message: 'must start at its network address, as 10.0.0.0/24 does' },
        { field: 'ipv6_gateway', message: 'needs ipv6_cidr beside it' },
      ],
    },
  });
});

test('tenants are listed, and a compute account is asked for', async (context) => {
  const { call, local, ann } = await serve(context);
  const { body, total } = await call('ann', 'GET', '/tenants');
  assert.equal(total, 1);
  assert.deepEqual(body['data'], [
    { id: 2, user_id: ann.userId, provider_id: local, internal_id: 2, username: 'ann', name: 'ann@local' },
  ]);
  assert.deepEqual((await call('ann', 'POST', '/computes', { provider_id: local, display_name: 'farm' })).body, {
    status: 'success',
    message: 'Compute account farm waits for an administrator as request 7.',
  });
});

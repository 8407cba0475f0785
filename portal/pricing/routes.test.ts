import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pricingRoutes } from './routes.ts';
import { PricingService } from './service.ts';
import { serve, TestPortal } from './testing.ts';

interface PriceTable {
  readonly data: {
    readonly io_engines: { readonly provider1: { readonly data: { readonly small: { value: string } } } };
  };
}

async function aServer() {
  const portal = new TestPortal();
  const admin = await portal.addUser('admin', 'admin');
  const user = await portal.addUser('ann');
  const providerId = await portal.addProvider('local');
  const app = await serve(portal, pricingRoutes(new PricingService(portal)), [admin, user]);
  return { portal, app, providerId };
}

function upload(providerIds: string, file: string): { headers: Record<string, string>; payload: string } {
  const part = (name: string, rest: string, value: string) =>
    `--edge\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n\r\n${value}\r\n`;
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=edge', 'x-token': 'admin' },
    payload: `${part('provider_ids', '', providerIds)}${part('file', '; filename="prices.csv"', file)}--edge--\r\n`,
  };
}

test('the price table has the form of the specification', async () => {
  const { portal, app, providerId } = await aServer();
  using _ = portal;
  const reply = await app.inject({ method: 'GET', url: '/api/pricing', headers: { 'x-token': 'ann' } });
  assert.deepEqual(reply.json(), {
    status: 'success',
    data: {
      io_engines: {
        [`provider${providerId}`]: {
          currency: 'USD',
          type: 'io_engine',
          name: 'local',
          cloud_name: 'cloud of local',
          type_id: providerId,
          data: {
            large: { value: '1', available_in_cloud: true },
            small: { value: '0.25', available_in_cloud: true },
          },
        },
      },
    },
  });
});

test('an uploaded price file is applied; a bad one is answered 400 with the row', async () => {
  const { portal, app } = await aServer();
  using _ = portal;
  const post = (file: string) => app.inject({ method: 'POST', url: '/api/pricing', ...upload('1', file) });
  const small = async () => {
    const reply = await app.inject({ method: 'GET', url: '/api/pricing', headers: { 'x-token': 'ann' } });
    return reply.json<PriceTable>().data.io_engines.provider1.data.small.value;
  };
  const good = await post('kind,key,hourly_price_usd\r\nengine,small,0.75\r\n');
  assert.deepEqual([good.statusCode, good.json()], [200, { status: 'success' }]);
  assert.equal(await small(), '0.75');
  const bad = await post('kind,key,hourly_price_usd\r\nengine,small,1\r\nengine,none,1\r\n');
  assert.equal(bad.statusCode, 400);
  assert.match(
    bad.json<{ message: string }>().message,
    /^Row 3: the cloud of provider local has no engine with the key "none"/,
  );
  assert.equal(await small(), '0.75');
});

test('an administrator sets the price of a flavor, a user does not', async () => {
  const { portal, app } = await aServer();
  using _ = portal;
  const set = (flavor: string, price: string, token: string) =>
    app.inject({
      method: 'POST',
      url: `/api/providers/1/flavors/${flavor}/price`,
      headers: { 'x-token': token, 'content-type': 'application/x-www-form-urlencoded' },
      payload: `price=${price}`,
    });
  assert.equal((await set('nova_id_101', '0.125', 'ann')).statusCode, 403);
  assert.equal((await set('nova_id_101', '-1', 'admin')).statusCode, 400);
  assert.equal((await set('nova_id_999', '1', 'admin')).statusCode, 404);
  const reply = await set('nova_id_101', '0.125', 'admin');
  assert.deepEqual([reply.statusCode, reply.json()], [200, { status: 'success' }]);
});

test('a price is set from a later time: until then the present one counts, and both are listed with those before', async () => {
  const { portal, app, providerId } = await aServer();
  using _ = portal;
  const item = { provider_id: providerId, kind: 'drive', key: 'SSD_10GB' };
  const call = (method: 'GET' | 'POST' | 'DELETE', payload: object, token = 'admin') =>
    app.inject({ method, url: '/api/pricing/items', payload, headers: { 'x-token': token } });
  const listed = async () => {
    const reply = await call('GET', { provider_id: providerId }, 'ann');
    const { data } = reply.json<{ data: { key: string; hourly_price_usd: string; state: string }[] }>();
    return data.filter(({ key }) => key === 'SSD_10GB').map((one) => `${one.hourly_price_usd} ${one.state}`);
  };
  assert.deepEqual(await listed(), ['0.003 present']);
  portal.clock.advance(60_000);
  assert.equal((await call('POST', { ...item, price: '0.004' })).statusCode, 200);
  assert.equal((await call('POST', { ...item, price: '0.005', from: '2027-01-01 00:00' })).statusCode, 200);
  assert.deepEqual(await listed(), ['0.003 past', '0.004 present', '0.005 planned']);
  assert.match((await call('POST', { ...item, price: '1', from: '2025-01-01 00:00' })).body, /from must not be past/);
  assert.match((await call('POST', { ...item, price: '1', from: '2027-02-30 00:00' })).body, /from must be a date/);
  assert.match((await call('POST', { ...item, key: 'none', price: '1' })).body, /key must name a drive/);
  assert.equal((await call('POST', { ...item, price: '1' }, 'ann')).statusCode, 403);
  portal.clock.advance(Date.parse('2027-01-01T00:00:00Z') - portal.clock.now());
  assert.deepEqual(await listed(), ['0.003 past', '0.004 past', '0.005 present']);
  assert.equal((await call('POST', { ...item, price: '0.006', from: '2027-06-01 00:00' })).statusCode, 200);
  assert.equal((await call('DELETE', item)).statusCode, 200);
  assert.deepEqual((await listed()).at(-1), '0.005 present');
  assert.equal((await call('DELETE', item)).statusCode, 404, 'nothing is planned');
  const cache = { provider_id: providerId, kind: 'cache_gb', price: '0.1' };
  assert.equal((await call('POST', cache)).statusCode, 200, 'of what there is just one, no key is sent');
  assert.equal((await call('GET', { provider_id: 99 }, 'ann')).statusCode, 404);
});

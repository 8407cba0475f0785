import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { arrayApi, peerApi } from '@granary/contract/array';
import type { HostedInterface } from '@granary/kernel';
import { testArray, type TestArray } from '../testing/test-array.ts';
import { connectProxy, socksProxy } from '../outgoing/testing/proxies.ts';

const { remoteArrays, users, messages } = arrayApi.groups;
const signIn = { user: 'dana', password: 'first passcode' };

const other = {
  uuid: '6f1f5f6e-0000-4000-8000-000000000002',
  internalName: 'vsa-00000002',
  displayName: 'Offsite',
  provider: 'Lake Storage',
};

function pairOfArrays(t: TestContext): Promise<[TestArray, TestArray]> {
  return Promise.all([testArray(t), testArray(t, other)]);
}

function hostOf({ configuration }: TestArray): string {
  return configuration.management.host;
}

test('an array that is found is on record with who it is, and its pools by names that stay', async (t) => {
  const [here, there] = await pairOfArrays(t);
  await there.pool({ name: 'vault' });
  const { remote_array_name } = await here.client.call(remoteArrays.discover, { ip: hostOf(there), ...signIn });
  assert.equal(remote_array_name, 'rarray-00000001');
  const { remote_array } = await here.client.call(remoteArrays.get, { id: remote_array_name });
  assert.deepEqual(remote_array, {
    name: 'rarray-00000001',
    remote_name: 'vsa-00000002',
    remote_display_name: 'Offsite',
    provider: 'Lake Storage',
    software_version: '0.1.0',
    uuid: other.uuid,
    ip: hostOf(there),
    public: 'NO',
    vni: null,
  });
  const pools = () => here.client.call(remoteArrays.listPools, { id: remote_array_name });
  const first = (await pools()).remote_pools;
  assert.deepEqual(
    first.map(({ name, remote_name, display_name }) => [name, remote_name, display_name]),
    [['rpool-00000001', 'pool-00000001', 'vault']],
  );
  assert.ok(first[0]!.available_capacity > 0);
  await there.pool({ name: 'second' });
  const names = (await pools()).remote_pools.map(({ name, display_name }) => `${name} ${display_name}`);
  assert.deepEqual(names, ['rpool-00000001 vault', 'rpool-00000002 second']);
  assert.equal((await here.client.refused(remoteArrays.get, { id: 'rarray-00000009' })).code, 10089);
});

function interfaceAt(address: string): HostedInterface {
  return { id: 1, address, netmask: '255.255.255.0', gateway: null, vlanId: 100 };
}

/** An address beside that of the array. */
function besides(array: TestArray, last: number): string {
  return hostOf(array).replace(/\d+$/, String(last));
}

test('an interface that the array does not have is refused by name, before the other array is asked', async (t) => {
  const here = await testArray(t, { drives: 2 });
  for (const [name, words] of [
    ['public', /interface is public, and the array has no public address/],
    ['vni0', /interface is vni0, and the array is in no virtual network/],
  ] as const) {
    const refused = await here.client.refused(remoteArrays.discover, { ip: '192.0.2.1', ...signIn, interface: name });
    assert.equal(refused.code, 7);
    assert.match(refused.message, words);
  }
});

test('connections to a remote array come from the address of the interface that was named', async (t) => {
  const here = await testArray(t, { drives: 2 });
  await here.change({ publicAddress: besides(here, 8), interfaces: [interfaceAt(besides(here, 9))] });
  const seen: (string | undefined)[] = [];
  const server = createServer((socket) => {
    seen.push(socket.remoteAddress);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, hostOf(here), resolve));
  t.after(() => server.close());
  const ip = `${hostOf(here)}:${(server.address() as AddressInfo).port}`;
  const from = async (name: 'public' | 'vni0' | 'fe') => {
    seen.length = 0;
    await here.client.refused(remoteArrays.discover, { ip, ...signIn, interface: name });
    return [...new Set(seen)];
  };
  assert.deepEqual(await from('fe'), [hostOf(here)]);
  assert.deepEqual(await from('public'), [besides(here, 8)]);
  assert.deepEqual(await from('vni0'), [besides(here, 9)]);
});

test('an interface that went away since leaves the remote array on record, and says why it is not reached', async (t) => {
  const [here, there] = await pairOfArrays(t);
  await here.change({ interfaces: [interfaceAt(besides(here, 9))] });
  const request = { ip: hostOf(there), ...signIn, interface: 'vni0' } as const;
  const { remote_array_name: id } = await here.client.call(remoteArrays.discover, request);
  await here.restart({ interfaces: [] });
  const refused = await here.client.refused(remoteArrays.listPools, { id });
  assert.equal(refused.code, 10107);
  assert.match(refused.message, /the array is in no virtual network/);
});

test('found again, an array keeps its name; renamed, it is shown by its new one; gone, it stays on record', async (t) => {
  const [here, there] = await pairOfArrays(t);
  await here.change({ interfaces: [interfaceAt(besides(here, 9))] });
  const ip = `${hostOf(there)}:${there.configuration.management.port}`;
  const { remote_array_name: id } = await here.client.call(remoteArrays.discover, { ip, ...signIn });
  const again = await here.client.call(remoteArrays.discover, { ip, ...signIn, interface: 'vni0' });
  assert.equal(again.remote_array_name, id);
  assert.equal((await here.client.call(remoteArrays.list, {})).count, 1);
  await there.change({ displayName: 'Far away' });
  const { remote_array } = await here.client.call(remoteArrays.get, { id });
  assert.deepEqual([remote_array.remote_display_name, remote_array.vni], ['Far away', 'vni0']);
  await there.restart();
  await there.stop();
  assert.equal((await here.client.call(remoteArrays.list, {})).remote_arrays[0]?.name, id);
  assert.equal((await here.client.call(remoteArrays.get, { id })).remote_array.uuid, other.uuid);
  const refused = await here.client.refused(remoteArrays.listPools, { id });
  assert.equal(refused.code, 10107);
  assert.match(refused.message, /nothing listens there/);
  assert.equal((await here.client.call(remoteArrays.delete, { id })).remote_array_name, id);
  assert.equal((await here.client.call(remoteArrays.list, {})).count, 0);
});

test('between two arrays that do not know each other', async (t) => {
  const [here, there] = await pairOfArrays(t);
  await t.test(
    'who may not sign in there, or is no administrator, is reported so; so is who asks for nothing or oneself',
    async () => {
      const refusal = (changes: object) =>
        here.client.refused(remoteArrays.discover, { ip: hostOf(there), ...signIn, ...changes });
      const wrong = await refusal({ password: 'wrong' });
      assert.equal(wrong.code, 10120);
      assert.match(wrong.message, /the user or the password is wrong/);
      await there.client.call(users.create, { username: 'jo', password: 'correct horse' });
      const user = await refusal({ user: 'jo', password: 'correct horse' });
      assert.equal(user.code, 10120);
      assert.match(user.message, /must be an administrator/);
      const itself = await refusal({ ip: hostOf(here) });
      assert.deepEqual([itself.code, /address of the same array/.test(itself.message)], [10100, true]);
      assert.equal((await refusal({ ip: `${hostOf(there)}:1` })).code, 10107);
      assert.equal((await refusal({ ip: 'http://x/' })).code, 7);
      for (const ip of ['169.254.169.254', '0.0.0.0', '[fe80::1]']) assert.equal((await refusal({ ip })).code, 13, ip);
      assert.equal((await here.client.call(remoteArrays.list, {})).count, 0);
      const { messages: reported } = await there.client.call(messages.list, {});
      assert.ok(!reported.some(({ msg_title }) => msg_title.includes('may mirror')));
    },
  );

  for (const proxytype of ['http', 'http10'] as const) {
    await t.test(`an array is found through an HTTP proxy of type ${proxytype} that wants a password`, async (t) => {
      const proxy = await connectProxy(t, 'pat:secret');
      const through = { proxyhost: proxy.host, proxyport: proxy.port, proxytype, proxyusername: 'pat' };
      const request = { ip: hostOf(there), ...signIn, ...through };
      const refused = await here.client.refused(remoteArrays.discover, { ...request, proxypassword: 'wrong' });
      assert.match(refused.message, /the proxy refused the user or password/);
      const { remote_array_name: id } = await here.client.call(remoteArrays.discover, {
        ...request,
        proxypassword: 'secret',
      });
      proxy.asked.length = 0;
      await here.client.call(remoteArrays.listPools, { id });
      const asked = `${hostOf(there)}:7480 HTTP/${proxytype === 'http' ? '1.1' : '1.0'} pat:secret`;
      assert.ok(
        proxy.asked.every((one) => one === asked),
        proxy.asked.join(),
      );
    });
  }

  await t.test('an array is found through SOCKS proxies, which look names up only where their kind does', async (t) => {
    const open = await socksProxy(t);
    const closed = await socksProxy(t, 'pat:secret');
    const ip = hostOf(there);
    const find = (proxytype: string, proxy: typeof open, more: object = {}) =>
      here.client.call(remoteArrays.discover, {
        ip,
        ...signIn,
        proxyhost: proxy.host,
        proxyport: proxy.port,
        proxytype,
        ...more,
      } as never);
    await find('socks5', closed, { proxyusername: 'pat', proxypassword: 'secret' });
    assert.ok(closed.asked.every((one) => one === `5 ${ip}:7480`));
    await find('socks4', open, { proxyusername: 'pat' });
    assert.ok(open.asked.every((one) => one === `4 ${ip}:7480 pat`));
    for (const [proxytype, asked] of [
      ['socks4a', '4 localhost:1'],
      ['socks4_hostname', '4 localhost:1'],
      ['socks5', '5 127.0.0.1:1'],
    ]) {
      open.asked.length = 0;
      await find(proxytype!, open, { ip: 'localhost:1' }).catch(() => undefined);
      assert.equal(open.asked[0], asked, proxytype);
    }
    const refused = await here.client.refused(remoteArrays.discover, {
      ip: '169.254.169.254',
      ...signIn,
      proxyhost: open.host,
      proxyport: open.port,
      proxytype: 'socks4a',
    });
    assert.equal(refused.code, 13);
  });

  await t.test(
    'what two arrays agreed on opens nothing but what peers may do, and no key of a user opens that',
    async () => {
      await here.client.call(remoteArrays.discover, { ip: hostOf(there), ...signIn });
      const at = (path: string, key: string) =>
        fetch(`${there.configuration.managementUrl}/api${path}`, { headers: { 'x-access-key': key } }).then(
          async (answer) => ((await answer.json()) as { response: { status: number } }).response.status,
        );
      assert.equal(await at('/peers/pools', there.user.access_key), 5);
      assert.equal(await at('/peers/pools', there.configuration.internalKey), 5);
      const files = ['array.db', 'array.db-wal'].map((name) =>
        readFileSync(join(here.configuration.folder, name), 'latin1'),
      );
      assert.ok(!files.join().includes('first passcode'), 'the password is not kept');
      await there.client.call(users.resetAccessKey, { name: 'dana' });
      assert.equal((await here.client.call(remoteArrays.listPools, { id: 'rarray-00000001' })).count, 0);
      const paths = Object.values(peerApi.groups.peers).map(({ path }) => path);
      assert.ok(paths.every((path) => path.startsWith('/peers')));
    },
  );
});

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import type { HostedInterface } from '@granary/kernel';
import { freePorts, isListening, skipsIpv6 } from '../../testing/ports.ts';
import { Initiator } from '../../protocols/iscsi/testing/index.ts';
import { testArray } from '../testing/test-array.ts';

const { controllers, servers } = arrayApi.groups;
const IQN = 'iqn.2026-01.org.example:web-1';

async function setUp(t: TestContext, ports: { dataPort: number; filePort: number }) {
  const array = await testArray(t, { drives: 2, dataPort: ports.dataPort, filePort: ports.filePort });
  const { client, configuration } = array;
  const besides = configuration.management.host.replace(/\d+$/, '9');
  const open = (host: string) =>
    Promise.all([configuration.management.port, ports.dataPort, ports.filePort].map((port) => isListening(host, port)));
  const shown = async () => (await client.call(controllers.listVirtualNetworks, {})).vnis;
  return { array, client, configuration, besides, open, shown };
}

const ALL = [true, true, true];
const NONE = [false, false, false];

test('an array serves its management, iSCSI and NFS at its address in a virtual network, and no longer once it left', async (t) => {
  const { array, besides, open, shown } = await setUp(t, { dataPort: 3260, filePort: 2049 });
  assert.deepEqual([await open(besides), await shown()], [NONE, []]);
  const vni: HostedInterface = { id: 4, address: besides, netmask: '255.255.255.0', gateway: '10.0.0.1', vlanId: 101 };
  await array.change({ interfaces: [vni] });
  assert.deepEqual(await open(besides), ALL);
  assert.deepEqual(await shown(), [
    {
      id: 4,
      ip: besides,
      ipv6: null,
      gateway: '10.0.0.1',
      ipv6_gateway: null,
      netmask: '255.255.255.0',
      ipv6_netmask: null,
      vlan_id: 101,
      interface: 'vni4',
      net_uuid: null,
    },
  ]);
  await array.client.call(servers.create, { display_name: 'web-1', iqn: IQN });
  const [target] = await Initiator.discover({ host: besides, port: 3260, initiatorName: IQN });
  assert.deepEqual(target?.addresses, [`${besides}:3260,1`]);
  await array.change({ interfaces: [] });
  assert.deepEqual([await open(besides), await shown()], [NONE, []]);
});

test('both addresses of an interface are served, and the IPv6 one is shown', { skip: skipsIpv6 }, async (t) => {
  const [dataPort = 0, filePort = 0] = await freePorts('::1', 2);
  const { array, client, besides, open, shown } = await setUp(t, { dataPort, filePort });
  const ipv6 = { address: '::1', netmask: 'ffff::', gateway: 'fd00::1' };
  const vni = { id: 1, address: besides, netmask: '255.255.255.0', gateway: null, vlanId: 100, ipv6 };
  await array.change({ interfaces: [vni] });
  assert.deepEqual(await open(besides), ALL);
  assert.deepEqual((await open('::1')).slice(1), [true, true]);
  const [first] = await shown();
  assert.deepEqual(
    [first?.ip, first?.ipv6, first?.gateway, first?.ipv6_gateway, first?.ipv6_netmask],
    [besides, '::1', null, 'fd00::1', 'ffff::'],
  );
  const { vcontrollers } = await client.call(controllers.list, {});
  for (const one of vcontrollers) assert.deepEqual([one.iscsi_ipv6, one.mgmt_ipv6], ['::1', '::1']);
  await array.change({ interfaces: [] });
  assert.deepEqual((await open('::1')).slice(1), [false, false]);
});

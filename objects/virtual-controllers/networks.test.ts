import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { freePorts, isListening, skipsIpv6 } from '../../testing/ports.ts';
import { testObjects } from '../testing/test-objects.ts';

const { drives, loadBalancerGroups, settings, virtualControllers } = objectsApi.groups;

test('an object array serves its management, S3 and Swift at its address in a virtual network, and no longer once it left', async (t) => {
  const objects = await testObjects(t);
  const { management, dataPort } = objects.configuration;
  const address = management.host.replace(/\d+$/, '9');
  const open = () => Promise.all([management.port, dataPort].map((port) => isListening(address, port)));
  assert.deepEqual(await open(), [false, false]);
  const network = { id: 1, address, netmask: '255.255.255.0', gateway: null, vlanId: 100 };
  await objects.change({ interfaces: [network] });
  assert.deepEqual(await open(), [true, true]);
  assert.equal((await fetch(`http://${address}:${dataPort}/info`)).status, 200);
  await objects.change({ interfaces: [] });
  assert.deepEqual(await open(), [false, false]);
});

test('the IPv6 address of an object array is served and shown by its controllers', { skip: skipsIpv6 }, async (t) => {
  const [dataPort = 0] = await freePorts('::1', 1);
  const objects = await testObjects(t, { dataPort });
  const { client, configuration } = objects;
  const address = configuration.management.host.replace(/\d+$/, '9');
  const ipv6 = { address: '::1', netmask: 'ffff::', gateway: null };
  await objects.change({
    interfaces: [{ id: 1, address, netmask: '255.255.255.0', gateway: null, vlanId: 100, ipv6 }],
  });
  assert.equal(await isListening('::1', dataPort), true);
  const { vcs } = await client.call(virtualControllers.list, {});
  assert.deepEqual([...new Set(vcs.map(({ fe_ipv6: shown }) => shown))], ['::1']);
  assert.equal((await client.call(loadBalancerGroups.list, {})).lbgs[0]?.ip_v6, '::1');
  assert.equal((await client.call(settings.get, {})).floating_fe_ipv6, '::1');
});

test('the number of a zone is the one its cloud gives it, whichever zones the array is in', async (t) => {
  const objects = await testObjects(t, { zoneIds: { zone_0: 7, zone_1: 3 } });
  const { client } = objects;
  const seen = async () => {
    const { disks } = await client.call(drives.list, {});
    return [...new Set(disks.map(({ allocation_zone: zone, zone_id: id }) => `${zone} ${id}`))].sort();
  };
  assert.deepEqual(await seen(), ['zone_0 7', 'zone_1 3']);
  const { vcs } = await client.call(virtualControllers.list, {});
  for (const { allocation_zone: zone, zone_id: id } of vcs) assert.equal(id, zone === 'zone_0' ? 7 : 3);
});

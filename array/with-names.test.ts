import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from './testing/test-array.ts';

const { drives, messages, pools, servers, volumes } = arrayApi.groups;

test('a refusal calls things by the names people gave, with the identifier behind', async (t) => {
  const array = await testArray(t);
  const { client } = array;
  const group = await array.group({ name: 'shelf' });
  const pool = await array.pool({ groups: [group], name: 'gold' });
  const { vol_name: volume } = await client.call(volumes.create, { name: 'Ledger', capacity: 1024, pool, block: true });
  const { server_name: server } = await client.call(servers.create, {
    display_name: 'desk',
    iqn: 'iqn.2030-01.org.a:b',
  });
  await client.call(servers.attachVolumes, { id: [server], volume_name: [volume] });
  assert.equal(
    (await client.refused(volumes.delete, { id: volume })).message,
    `Volume Ledger (${volume}) is attached to desk (${server}); detach it first.`,
  );
  assert.equal(
    (await client.refused(pools.delete, { id: pool })).message,
    `Pool gold (${pool}) still has 1 volume, those in the recycle bin included; delete or migrate them first.`,
  );
  const { disks } = await client.call(drives.list, {});
  const used = disks.find(({ raid_group_name: group }) => group !== null);
  assert.equal(used?.raid_group_name, group);
  assert.equal(
    (await client.refused(drives.shred, { id: used.name })).message,
    `Drive ssd-1 (${used.name}) is in use by RAID group shelf (${group}).`,
  );
});

test('an identifier of nothing, and what people typed themselves, is repeated as it is', async (t) => {
  const array = await testArray(t);
  const { client } = array;
  const pool = await array.pool({ name: 'gold' });
  assert.equal(
    (await client.refused(volumes.get, { id: 'volume-0000ffff' })).message,
    'Volume volume-0000ffff was not found.',
  );
  const named = { name: pool, capacity: 1024, pool, block: true };
  const { vol_name: volume } = await client.call(volumes.create, named);
  assert.equal((await client.refused(volumes.create, named)).message, `The name ${pool} is taken; choose another.`);
  const { messages: events } = await client.call(messages.list, {});
  const made = events.map(({ msg_title: title }) => title).find((title) => title.includes(volume));
  assert.match(made ?? '', new RegExp(`^Volume ${pool} \\(${volume}\\) was created`));
});

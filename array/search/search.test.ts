import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray, type TestArray } from '../testing/test-array.ts';

const { search, snapshots, volumes, servers } = arrayApi.groups;

const find = async ({ client }: TestArray, q: string, limit?: number) =>
  (await client.call(search.find, { q, ...(limit !== undefined && { limit }) })).results;
const named = async (array: TestArray, q: string) => (await find(array, q)).map(({ kind, name }) => `${kind} ${name}`);

test('whatever has a name is found by it: pools, volumes, shares, snapshots, servers, drives, RAID groups, policies, users', async (t) => {
  const array = await testArray(t);
  const pool = await array.pool({ name: 'gold' });
  await array.client.call(volumes.create, { name: 'Ledger', capacity: 1024, pool, block: true });
  await array.client.call(volumes.create, {
    name: 'Homes',
    capacity: 1024,
    pool,
    block: false,
    export_name: 'people',
  });
  const { volumes: all } = await array.client.call(volumes.list, {});
  const ledger = all.find(({ display_name }) => display_name === 'Ledger');
  assert.ok(ledger);
  await array.client.call(snapshots.create, { volume_cg_id: ledger.cg_name, display_name: 'ledger-noon' });
  await array.client.call(servers.create, {
    display_name: 'db-1',
    iqn: 'iqn.2030-01.org.example:db1',
    iscsi: '192.0.2.7/32',
  });

  assert.deepEqual(await named(array, 'LEDG'), ['volumes Ledger', 'snapshots ledger-noon']);
  assert.deepEqual(await named(array, 'gold'), ['pools gold']);
  assert.deepEqual(await find(array, 'people'), [
    {
      kind: 'volumes',
      id: all.find(({ display_name: name }) => name === 'Homes')?.name,
      name: 'Homes',
      detail: 'Share · people',
    },
  ]);
  assert.deepEqual(await named(array, 'example:db1'), ['servers db-1']);
  assert.deepEqual(await named(array, '192.0.2'), ['servers db-1']);
  const [drive] = array.configuration.drives;
  assert.deepEqual(
    (await find(array, drive?.uuid ?? '?')).map(({ kind }) => kind),
    ['drives'],
  );
  assert.ok((await named(array, 'raidgroup')).every((found) => found.startsWith('raid-groups ')));
  assert.ok((await find(array, 'daily')).some(({ kind }) => kind === 'policies'));
  assert.ok((await find(array, array.configuration.owner)).some(({ kind }) => kind === 'users'));
});

test('the best are kept by a limit, and what is deleted is not found', async (t) => {
  const array = await testArray(t);
  const pool = await array.pool({ name: 'gold' });
  for (const name of ['a-tape', 'tapestry', 'tape'])
    await array.client.call(volumes.create, { name, capacity: 1024, pool, block: true });
  assert.deepEqual(
    (await find(array, 'tape', 2)).map(({ name }) => name),
    ['tape', 'tapestry'],
  );
  const { volumes: all } = await array.client.call(volumes.list, {});
  const tape = all.find(({ display_name }) => display_name === 'tape');
  await array.client.call(volumes.delete, { id: tape?.name ?? '', force: true });
  assert.deepEqual(await named(array, 'tape'), ['volumes tapestry', 'volumes a-tape']);
  assert.deepEqual(await named(array, '%'), []);
});

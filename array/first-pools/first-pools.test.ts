import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testDrive } from '../../kernel/process/testing/configuration.ts';
import type { Drive } from '../drives/drive.ts';
import { testArray } from '../testing/test-array.ts';
import { mirroredPairs } from './pairs.ts';

const { drives, messages, pools, raidGroups } = arrayApi.groups;

function driveOn(node: string, number: number): Drive {
  return { placed: { ...testDrive(number), node } } as Drive;
}

/** The nodes of each pair. */
function pairsOf(nodes: readonly string[]): string[] {
  const all = nodes.map((node, index) => driveOn(node, index));
  const pairs = mirroredPairs(all);
  assert.equal(new Set(pairs.flat()).size, 2 * pairs.length, 'no drive is in two pairs');
  return pairs.map((pair) => pair.map(({ placed }) => placed.node).join(''));
}

test('pairs are made across nodes as far as they go, and a drive without a partner stays free', () => {
  assert.deepEqual(pairsOf([]), []);
  assert.deepEqual(pairsOf(['a']), []);
  assert.deepEqual(pairsOf(['a', 'a', 'b', 'b']), ['ab', 'ab']);
  assert.deepEqual(pairsOf(['a', 'a', 'a', 'b']), ['ab', 'aa']);
  assert.deepEqual(pairsOf(['a', 'b', 'c', 'c']), ['ca', 'bc']);
  assert.equal(pairsOf(['a', 'b', 'c', 'a', 'b']).length, 2);
});

test('an array ordered with mirrored pairs has a striped pool of them from its first start, and makes no more', async (t) => {
  const array = await testArray(t, { drives: 5, raid10Pools: true });
  const { client } = array;
  const shown = async () => {
    const groups = (await client.call(raidGroups.list, {})).raid_groups;
    const made = (await client.call(pools.list, {})).pools;
    const free = (await client.call(drives.listFree, {})).count;
    return { groups: groups.map(({ protection }) => protection), pools: made.map(({ mode }) => mode), free };
  };
  assert.deepEqual(await shown(), { groups: ['RAID1', 'RAID1'], pools: ['stripe'], free: 1 });
  await array.volume((await client.call(pools.list, {})).pools[0]!.name);
  await array.restart({ drives: [...array.configuration.drives, ...array.place([6])] });
  assert.deepEqual((await shown()).free, 2, "drives that come later are the administrator's to use");
});

test('an array ordered without them has only free drives', async (t) => {
  const { client } = await testArray(t, { drives: 2 });
  assert.equal((await client.call(pools.list, {})).count, 0);
  assert.equal((await client.call(drives.listFree, {})).count, 2);
});

test('an array whose engine has no drives of its own starts, and says that it could not make them', async (t) => {
  const { client } = await testArray(t, { drives: 2, raid10Pools: true, storageEngine: 'memory' });
  const { messages: reported } = await client.call(messages.list, { limit: 50 });
  assert.ok(reported.some(({ msg_title: title }) => title.startsWith('The pools of mirrored pairs that were ordered')));
});

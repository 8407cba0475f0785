import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { temporaryFolder } from '../../testing/folders.ts';
import { testArray, type TestArray } from '../testing/test-array.ts';

const { poolTags, volumeTags, serverTags, pools, servers, volumes } = arrayApi.groups;
const BAD_PARAMETER = 7;
const TAG_NOT_FOUND = 10090;
const NAME_TAKEN = 10096;
const LIMIT_REACHED = 10201;

/** One of each kind that can be tagged. */
async function tagged(array: TestArray) {
  const pool = await array.pool();
  const volume = await array.volume(pool);
  const iqn = 'iqn.2026-01.org.example:web-1';
  const { server_name: server } = await array.client.call(servers.create, { display_name: 'web-1', iqn });
  return { pool, volume, server };
}

/** In a copy of the database, which the array has to itself. */
function tagsOnDisk(t: TestContext, { configuration }: TestArray): number {
  const copy = join(temporaryFolder(t), 'array.db');
  for (const ending of ['', '-wal']) copyFileSync(join(configuration.folder, `array.db${ending}`), copy + ending);
  const database = new DatabaseSync(copy);
  const row = database.prepare('SELECT count(*) AS count FROM tags').get();
  database.close();
  return Number(row?.['count']);
}

describe('tags', { timeout: 60_000 }, () => {
  it('are put on pools, volumes and servers, changed, listed and taken off', async (t) => {
    const array = await testArray(t, { drives: 2 });
    const { client } = array;
    const { pool, volume, server } = await tagged(array);
    const kinds = [
      { tags: poolTags, id: pool, unknown: 10080 },
      { tags: volumeTags, id: volume, unknown: 10081 },
      { tags: serverTags, id: server, unknown: 10086 },
    ];
    for (const { tags, id, unknown } of kinds) {
      const { tag_name } = await client.call(tags.create, { id, key: 'owner', value: 'web team' });
      assert.match(tag_name, /^tag-[0-9a-f]{8}$/);
      await client.call(tags.create, { id, key: 'a/b c', value: '' });
      assert.equal((await client.refused(tags.create, { id, key: 'owner', value: 'x' })).code, NAME_TAKEN);
      assert.equal((await client.call(tags.update, { id, tag_key: 'owner', value: 'ops' })).tag_name, tag_name);
      assert.equal((await client.refused(tags.update, { id, tag_key: 'none', value: 'x' })).code, TAG_NOT_FOUND);
      assert.equal((await client.refused(tags.delete, { id, tag_key: 'none' })).code, TAG_NOT_FOUND);
      const { tags: all, count } = await client.call(tags.list, { id });
      assert.deepEqual(
        all.map(({ key, value }) => [key, value]),
        [
          ['a/b c', ''],
          ['owner', 'ops'],
        ],
      );
      assert.equal(count, 2);
      const page = await client.call(tags.list, { id, start: 1, limit: 1 });
      assert.deepEqual([page.tags, page.count], [[{ name: tag_name, key: 'owner', value: 'ops' }], 2]);
      await client.call(tags.delete, { id, tag_key: 'a/b c' });
      assert.equal((await client.call(tags.list, { id })).count, 1);
      assert.equal((await client.refused(tags.list, { id: 'nothing-1' })).code, unknown);
      assert.equal((await client.refused(tags.create, { id: 'nothing-1', key: 'k', value: 'v' })).code, unknown);
      assert.equal((await client.refused(tags.create, { id, key: '', value: 'v' })).code, BAD_PARAMETER);
      assert.equal((await client.refused(tags.create, { id, key: 'k', value: 'v'.repeat(257) })).code, BAD_PARAMETER);
    }
  });

  it('number 50 at most on one thing, and one wins who all want the same key', async (t) => {
    const array = await testArray(t, { drives: 2 });
    const id = await array.pool();
    const create = (key: string) => array.client.call(poolTags.create, { id, key, value: 'v' });
    const same = await Promise.allSettled(Array.from({ length: 10 }, () => create('same')));
    assert.equal(same.filter(({ status }) => status === 'fulfilled').length, 1);
    await Promise.all(Array.from({ length: 49 }, (_, index) => create(`key ${index}`)));
    const refused = await array.client.refused(poolTags.create, { id, key: 'one more', value: 'v' });
    assert.equal(refused.code, LIMIT_REACHED);
    assert.match(refused.message, /delete one first/);
  });

  it('survive a restart, and go with what they are on', async (t) => {
    const array = await testArray(t, { drives: 2 });
    const { client } = array;
    const { pool, volume, server } = await tagged(array);
    const mark = { key: 'k', value: 'v' };
    await client.call(poolTags.create, { id: pool, ...mark });
    await client.call(volumeTags.create, { id: volume, ...mark });
    await client.call(serverTags.create, { id: server, ...mark });
    await array.restart();
    assert.equal((await client.call(poolTags.list, { id: pool })).count, 1);
    assert.equal(tagsOnDisk(t, array), 3);
    await client.call(volumes.delete, { id: volume, timeout: -1 });
    await client.call(servers.delete, { id: server });
    await client.call(pools.delete, { id: pool });
    assert.equal(tagsOnDisk(t, array), 0);
  });
});

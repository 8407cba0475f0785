import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkIndex, IndexReader } from '@granary/storage/objects';
import { expect } from '../../protocols/s3/testing/client.ts';
import { until } from '../../testing/waiting.ts';
import { twoCopies } from '../testing/drives.ts';
import { testObjects } from '../testing/test-objects.ts';

const MAIN = fileURLToPath(new URL('../testing/array-main.ts', import.meta.url));
const OBJECTS = 150;
/** The kill comes when at least this many have moved, at any speed of the machine. */
const KILL_AFTER = [1, 40] as const;
const RULES =
  '<LifecycleConfiguration><Rule><ID>move</ID><Filter/><Status>Enabled</Status><Transition>' +
  '<Date>2020-01-01T00:00:00Z</Date><StorageClass>cold</StorageClass></Transition></Rule></LifecycleConfiguration>';

const bodyOf = (index: number) => `object ${index} `.repeat(2000 + index);

test('an array that is killed while it moves objects has each of them, under the old policy or the new', async (t) => {
  const objects = await testObjects(t, { policies: [twoCopies, { ...twoCopies, name: 'cold', typeId: 2 }] });
  for (const number of [5, 6, 7, 8]) await objects.addDrive(number, { policy: 'cold' });
  const s3 = objects.s3(objects.owner);
  t.after(() => s3.close());
  expect(await s3.call('PUT', '/moving'), 200);
  for (let index = 0; index < OBJECTS; index++)
    expect(await s3.call('PUT', `/moving/${index}`, { body: bodyOf(index) }), 200);
  expect(await s3.call('PUT', '/moving', { query: { lifecycle: '' }, body: RULES }), 200);
  await objects.stop();
  const classes = async () => {
    const client = objects.s3(objects.owner);
    const listed = await client.call('GET', '/moving').finally(() => client.close());
    return expect(listed, 200).all('StorageClass');
  };
  const movedSo = async () => (await classes()).filter((name) => name === 'cold').length;
  for (const killAfter of KILL_AFTER) {
    const child = spawn(process.execPath, [MAIN, JSON.stringify(objects.configuration)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => void child.kill('SIGKILL'));
    const killed = once(child, 'exit');
    await once(child.stdout, 'data');
    await until(async () => (await movedSo()) >= killAfter, `${killAfter} objects have moved`);
    child.kill('SIGKILL');
    await killed;
  }
  await objects.start();
  const again = objects.s3(objects.owner);
  t.after(() => again.close());
  for (let index = 0; index < OBJECTS; index++)
    assert.equal((await again.call('GET', `/moving/${index}`)).text, bodyOf(index), `object ${index}`);
  await until(async () => (await movedSo()) === OBJECTS, 'all have moved');
  for (let index = 0; index < OBJECTS; index++)
    assert.equal((await again.call('GET', `/moving/${index}`)).text, bodyOf(index), `object ${index}`);
  await objects.stop();
  const index = new IndexReader(join(objects.configuration.folder, 'index.db'));
  assert.deepEqual(checkIndex(index.db), []);
  index.close();
});

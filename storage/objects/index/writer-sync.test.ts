import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { IndexFixture } from './testing/fixture.ts';

type Done = (error: Error | null) => void;

/** Syncs that have been asked for and wait until the test ends them. */
function holdSyncs(context: TestContext): Done[] {
  const held: Done[] = [];
  context.mock.method(fs, 'fdatasync', (_fd: number, done: Done) => held.push(done));
  return held;
}

async function turns(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await turn();
}

/** Names of what has settled, as it does. */
function settled(named: Readonly<Record<string, Promise<unknown>>>): string[] {
  const names: string[] = [];
  for (const [name, work] of Object.entries(named)) {
    work.then(
      () => names.push(name),
      (error: Error) => names.push(`${name}: ${error.message.replace(/.*\((.*)\).*/, '$1')}`),
    );
  }
  return names;
}

test('what comes while a sync runs shares the next one, and is seen by nobody before', async (context) => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const { reader } = index.writer;
  const held = holdSyncs(context);
  const first = index.put(bucket, 'a');
  await turns(5);
  assert.equal(held.length, 1);
  const second = index.put(bucket, 'b');
  await turns(5);
  const third = index.put(bucket, 'c');
  const refused = index.put(bucket, 'a', { conditions: { ifNoneMatch: '*' } });
  const heard = settled({ first, second, third, refused });
  await turns(5);
  assert.deepEqual([held.length, heard], [1, ['refused: A condition of the request does not hold.']]);
  const { objects } = reader.list(bucket.id, { prefix: '', delimiter: null, after: null, limit: 10 });
  assert.deepEqual([objects.map(({ key }) => key), reader.bucketById(bucket.id)?.objects], [['a'], 1]);

  held[0]?.(null);
  await turns(5);
  assert.deepEqual([held.length, heard.slice(1)], [2, ['first']]);
  assert.equal(reader.bucketById(bucket.id)?.objects, 3);
  held[1]?.(null);
  await turns(5);
  assert.deepEqual([held.length, heard.slice(2)], [2, ['second', 'third']]);
  context.mock.restoreAll();
});

test('a sync that fails refuses whom it was for, and whoever came meanwhile or comes later', async (context) => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const held = holdSyncs(context);
  const first = index.put(bucket, 'a');
  await turns(5);
  const second = index.put(bucket, 'b');
  const heard = settled({ first, second });
  await turns(5);
  held[0]?.(new Error('EIO'));
  await turns(5);
  assert.deepEqual(heard, ['first: EIO', 'second: EIO']);
  await assert.rejects(index.put(bucket, 'c'), /could not be made durable/);
  context.mock.restoreAll();
});

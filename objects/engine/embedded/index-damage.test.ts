import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { expect } from '../../../protocols/s3/testing/client.ts';
import { testObjects } from '../../testing/test-objects.ts';

const MAIN = fileURLToPath(new URL('../../testing/array-main.ts', import.meta.url));

/** What a process says whose array cannot start. */
function startFails(configuration: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [MAIN, configuration], { timeout: 60_000 }, (error, _, stderr) => {
      if (error?.code === 1) resolve(stderr);
      else reject(error ?? new Error('The array started.'));
    });
  });
}

test('an array whose index was emptied does not start as if it were new, unless its administrator says so', async (t) => {
  const array = await testObjects(t);
  const client = array.s3(array.owner);
  expect(await client.call('PUT', '/photos'), 200);
  expect(await client.call('PUT', '/photos/beach.jpg', { body: 'waves' }), 200);
  client.close();
  await array.stop();
  const index = join(array.configuration.folder, 'index.db');
  truncateSync(index, 0);
  for (const time of ['first', 'second']) {
    const refused = await startFails(JSON.stringify(array.configuration));
    assert.match(refused, /index\.db is damaged: it has 0 bytes.*index\.db\.accept/, time);
  }
  writeFileSync(`${index}.accept`, '');
  await array.start();
  assert.equal(existsSync(`${index}.accept`), false, 'it counts once');
  const again = array.s3(array.owner);
  expect(await again.call('PUT', '/photos'), 200);
  expect(await again.call('PUT', '/photos/beach.jpg', { body: 'new waves' }), 200);
  again.close();
  await array.stop();
  await array.start();
  const last = array.s3(array.owner);
  assert.equal(expect(await last.call('GET', '/photos/beach.jpg'), 200).text, 'new waves');
  last.close();
});

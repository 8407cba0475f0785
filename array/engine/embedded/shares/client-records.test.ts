import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../../testing/folders.ts';
import { ClientRecords } from './client-records.ts';

const client = (name: string) => ({ kind: 'v4', name, address: '127.0.0.1' }) as const;

test('who was recorded is there after a restart, and who was removed is not', async (t) => {
  const folder = temporaryFolder(t);
  const first = new ClientRecords(folder);
  assert.deepEqual(await first.load(), []);
  await Promise.all(['a', 'b', 'c'].map((name) => first.add(client(name))));
  await first.add(client('a'));
  await first.remove(client('b'));
  await first.remove(client('unknown'));
  const second = new ClientRecords(folder);
  assert.deepEqual(await second.load(), [client('a'), client('c')]);
  await first.close();
  await second.close();
});

test('a line that a crash cut short is passed over, and the next ones are whole', async (t) => {
  const folder = temporaryFolder(t);
  const first = new ClientRecords(folder);
  await first.load();
  await first.add(client('a'));
  await first.close();
  const file = join(folder, 'clients.log');
  appendFileSync(file, '{"client":{"kind":"v4","na');
  const second = new ClientRecords(folder);
  assert.deepEqual(await second.load(), [client('a')]);
  await second.add(client('b'));
  await second.close();
  assert.equal(readFileSync(file, 'utf8').trim().split('\n').length, 2);
});

test('the file stays small, however often clients come and go', async (t) => {
  const folder = temporaryFolder(t);
  const records = new ClientRecords(folder);
  await records.load();
  await records.add(client('stays'));
  for (let round = 0; round < 25; round += 1) {
    const names = Array.from({ length: 100 }, (_, index) => client(`${round} ${index}`));
    await Promise.all(names.map((one) => records.add(one)));
    await Promise.all(names.map((one) => records.remove(one)));
  }
  assert.ok(readFileSync(join(folder, 'clients.log')).length < 600_000);
  const next = new ClientRecords(folder);
  assert.deepEqual(await next.load(), [client('stays')]);
  await records.close();
  await next.close();
});

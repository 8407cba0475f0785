import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { operations } from '@granary/contract';
import { objectsApi } from '@granary/contract/objects';
import { createLog, Store } from '@granary/kernel';
import { temporaryFolder } from '../../testing/folders.ts';
import { dataRequest } from '../testing/requests.ts';
import { callEntry, requestEntry, type NewEntry } from './entry.ts';
import { accessLogMigrations } from './migrations.ts';
import { READS } from './routes.ts';
import type { SortKey } from './repository.ts';
import { AccessLog } from './service.ts';

const all = operations(objectsApi);
const operationOf = (id: string) => all.find((one) => one.id === id)!;
const dana = { id: 'user:1', role: 'objs_admin', username: 'dana', accountId: 'a'.repeat(32) };
const ip = '192.0.2.7';

function start(t: TestContext, entriesMax?: number, folder: string | null = null) {
  const store = new Store(folder === null ? ':memory:' : join(folder, 'access-log.db'), accessLogMigrations);
  t.after(() => store.close());
  return { store, log: new AccessLog({ store, log: createLog('test', 'silent'), ...(entriesMax && { entriesMax }) }) };
}

function entry(changes: Partial<NewEntry> = {}): NewEntry {
  return { user: 'dana', controller: 'accounts', action: 'list', params: '{}', created: 0, ...changes };
}

test('a call of the management is kept with who, what and how it ended', () => {
  const params = { account_id: 'f00', force: 'YES', access_key: 'k3y', password: 'pass', made_up: 'x' };
  const call = { operation: operationOf('accounts.delete'), actor: dana, params, ip, code: 50001 };
  assert.deepEqual(callEntry(call, 1_000), {
    user: 'dana',
    controller: 'accounts',
    action: 'delete',
    params: JSON.stringify({ account_id: 'f00', force: 'YES', status: 50001, ip }),
    created: 1_000,
  });
  assert.equal(callEntry({ ...call, actor: undefined }, 0).user, null);
});

test('no secret of any operation gets into the log, nor anything that is not declared', () => {
  for (const operation of all) {
    const names = [...Object.entries(operation.endpoint.params)];
    const sent = names.flatMap(([name, { aliases = [], secret }]) =>
      [name, ...aliases].map((one) => [one, secret ? `SECRET-${one}` : `plain-${one}`]),
    );
    const credentials = { access_key: 'SECRET-key', username: 'u', password: 'SECRET-password' };
    const params = { ...credentials, ...Object.fromEntries(sent) } as Record<string, unknown>;
    const { params: kept } = callEntry({ operation, actor: dana, params, ip, code: 0 }, 0);
    assert.ok(!kept.includes('SECRET'), `${operation.id}: ${kept}`);
    const declared = names.filter(([, { secret, kind }]) => !secret && kind !== 'file').map(([name]) => name);
    for (const name of declared) assert.equal((JSON.parse(kept) as Record<string, unknown>)[name], `plain-${name}`);
  }
});

test('a secret that is in a structure is left out with all of it', () => {
  const params = { request_action: 'register_account', arguments: { username: 'ada', password: 'hunter2' } };
  const { params: kept } = callEntry(
    { operation: operationOf('requests.create'), actor: undefined, params, ip, code: 0 },
    0,
  );
  assert.deepEqual(JSON.parse(kept), { request_action: 'register_account', status: 0, ip });
});

test('parameters are kept up to a length', () => {
  const call = { operation: operationOf('messages.list'), actor: dana, ip, code: 7 };
  const long = callEntry({ ...call, params: { attr_value: 'x'.repeat(5_000) } }, 0);
  assert.equal((JSON.parse(long.params) as { attr_value: string }).attr_value, `${'x'.repeat(512)}…`);
  const longer = callEntry({ ...call, params: { attr_value: Array.from({ length: 5_000 }, () => 'xx') } }, 0);
  assert.deepEqual(JSON.parse(longer.params), { status: 7, ip, shortened: true });
});

test('a request of the data path is kept with the controller that served it', () => {
  const request = dataRequest({ at: 5_000, milliseconds: 12.4, bytesIn: 10, status: 507, username: null });
  assert.deepEqual(requestEntry(request, 'vsa-00000001-vc-1'), {
    user: null,
    controller: 'vsa-00000001-vc-1',
    action: 's3 PutObject',
    params: JSON.stringify({
      bucket: 'photos',
      key: 'summer/beach.jpg',
      status: 507,
      bytes_in: 10,
      bytes_out: 0,
      ms: 12,
      ip,
      request_id: '0123456789abcdef',
    }),
    created: 5_012,
  });
});

test('entries come in pages, newest first, and sorted by any field in the order asked for', async (t) => {
  const { log } = start(t);
  const users = ['mia', null, 'dana', 'ada'];
  for (let number = 1; number <= 40; number += 1)
    log.add(
      entry({
        user: users[number % 4]!,
        action: number % 3 === 0 ? 'get' : 'list',
        created: 2_000 - (number % 10) - 1,
      }),
    );
  const list = async (page: number, limit: number, ...sort: SortKey[]) => {
    const { entries, count } = await log.list({ page, limit, sort });
    assert.equal(count, 40);
    return entries;
  };
  const ids = async (...asked: Parameters<typeof list>) => (await list(...asked)).map(({ id }) => id);
  assert.deepEqual(await ids(1, 3), [40, 39, 38]);
  assert.deepEqual(await ids(14, 3), [1]);
  assert.deepEqual(await ids(15, 3), []);
  assert.equal((await ids(1, 0)).length, 40);
  assert.deepEqual(await ids(2, 3, { property: 'id', direction: 'ASC' }), [4, 5, 6]);
  const byUser = await list(1, 0, { property: 'user', direction: 'ASC' });
  assert.deepEqual(
    byUser.map(({ user }) => user),
    [null, 'ada', 'dana', 'mia'].flatMap((user) => Array.from({ length: 10 }, () => user)),
  );
  assert.deepEqual(
    byUser.slice(0, 3).map(({ id }) => id),
    [37, 33, 29],
    'the newest first among equals',
  );
  const sorted = await list(1, 0, { property: 'action', direction: 'DESC' }, { property: 'created', direction: 'ASC' });
  assert.deepEqual(
    sorted.map(({ action, created }) => `${action === 'list' ? 0 : 1} ${created}`),
    sorted.map(({ action, created }) => `${action === 'list' ? 0 : 1} ${created}`).sort(),
  );
  assert.deepEqual(await ids(2, 4, { property: 'created', direction: 'ASC' }), [38, 28, 18, 8]);
  const byController = await ids(
    1,
    2,
    { property: 'controller', direction: 'ASC' },
    { property: 'id', direction: 'ASC' },
  );
  assert.deepEqual(byController, [1, 2]);
});

test('entries are filtered by kind: requests of data, calls that change, calls that read', async (t) => {
  const { log } = start(t);
  for (const action of ['create', 's3 GetObject', 'watch', 'swift PUT object', 'watch', 'get'])
    log.add(entry({ action }));
  const list = async (...kinds: ('data' | 'changes' | 'reads')[]) => {
    const { entries, count } = await log.list({ page: 1, limit: 2, sort: [], filter: { kinds, reads: READS } });
    return [entries.map(({ action }) => action), count];
  };
  assert.deepEqual(await list('data', 'changes'), [['swift PUT object', 's3 GetObject'], 3]);
  assert.deepEqual(await list('changes'), [['create'], 1]);
  assert.deepEqual(await list('reads'), [['get', 'watch'], 3]);
  const changing = new Set(all.filter(({ endpoint }) => endpoint.method !== 'GET').map(({ name }) => name));
  assert.deepEqual(
    READS.filter((name) => changing.has(name)),
    [],
    'a name is that of a reading call or of a changing one',
  );
});

test('sorting by a name goes by its index', (t) => {
  const { store } = start(t);
  for (const name of ['user', 'controller', 'action']) {
    const plan = store.read((db) =>
      db.all<{ detail: string }>(
        `EXPLAIN QUERY PLAN SELECT e.id FROM names n CROSS JOIN entries e ON n.number = e.${name} ORDER BY n.text, e.id DESC`,
      ),
    );
    assert.ok(
      plan.some(({ detail }) => detail.includes(`entries_by_${name}`)),
      JSON.stringify(plan),
    );
  }
});

test('the oldest go when there are too many, and numbers go on after a restart', async (t) => {
  const folder = temporaryFolder(t);
  const first = start(t, 2_500, folder);
  for (let number = 0; number < 4_000; number += 1) first.log.add(entry({ created: number }));
  await first.log.finish();
  const { entries, count } = await first.log.list({ page: 1, limit: 1, sort: [{ property: 'id', direction: 'ASC' }] });
  assert.deepEqual([entries[0]!.id, count], [1_501, 2_500]);
  first.store.close();
  const { log } = start(t, 2_500, folder);
  log.add(entry());
  assert.equal((await log.list({ page: 1, limit: 1, sort: [] })).entries[0]!.id, 4_001);
});

test('what cannot be written waits, up to a limit', async (t) => {
  const { log, store } = start(t);
  const write = store.write.bind(store);
  store.write = () => Promise.reject(new Error('the disk is full'));
  for (let number = 0; number < 100_010; number += 1) log.add(entry());
  await assert.rejects(log.write());
  store.write = write;
  assert.equal((await log.list({ page: 1, limit: 1, sort: [] })).count, 100_000);
});

test('a parameter that is nested too deep is left out', () => {
  let nested: unknown = 'x';
  for (let depth = 0; depth < 100_000; depth += 1) nested = [nested];
  const params = { filter_field: 'name', filter_value: nested };
  const { params: kept } = callEntry({ operation: operationOf('accounts.list'), actor: dana, params, ip, code: 7 }, 0);
  assert.deepEqual(JSON.parse(kept), { filter_field: 'name', filter_value: '(a structure)', status: 7, ip });
});

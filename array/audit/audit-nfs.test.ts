import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { parse } from 'csv-parse/sync';
import { until } from '../../testing/waiting.ts';
import { unzip } from '../../kernel/http/testing/unzip.ts';
import { testArray } from '../testing/test-array.ts';
import { mountShare, writeFile } from '../testing/test-share.ts';

const { auditLogs, nasUsers, volumes } = arrayApi.groups;

type Row = Readonly<Record<string, string>>;

test('who did what to which path from where can be downloaded, also of a share that is deleted', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const { client, configuration, user } = array;
  const pool = await array.pool();
  const id = await array.volume(pool, { name: 'plans', block: 'NO', auditenable: 'YES' });
  const quiet = await array.volume(pool, { name: 'quiet', block: 'NO' });
  await client.call(nasUsers.create, { username: 'jo', nfs_uid: 1000 });
  const root = await mountShare(t, array, id);
  await root.setattr(root.root, { mode: 0o755 });
  const jo = await mountShare(t, array, id, { uid: 1000, gid: 100 });
  assert.notEqual((await jo.create(jo.root, 'refused', { mode: 0o644 })).status, 0);
  await writeFile(root, 'a', Buffer.from('text'));
  await root.rename(root.root, 'a', root.root, 'b, "b"');
  await root.remove(root.root, 'b, "b"');
  await writeFile(await mountShare(t, array, quiet), 'unseen', Buffer.from('text'));
  const download = async (query = '') => {
    const url = `${configuration.managementUrl}/api/audited_volumes/download${query}`;
    const reply = await fetch(url, { headers: { 'x-access-key': user.access_key } });
    assert.equal(reply.headers.get('content-type'), 'application/zip');
    const files = unzip(new Uint8Array(await reply.arrayBuffer()));
    return [...files].map(([name, text]) => ({ name, rows: parse<Row>(text, { columns: true }) }));
  };
  // Records are written within a second.
  await until(async () => {
    const [log] = await download();
    return log?.rows.some(({ operation }) => operation === 'remove') === true;
  }, 'all of it is logged');
  const [log, ...others] = await download();
  assert.deepEqual([log?.name, others.length], [`${id} plans.csv`, 0]);
  const reported = log!.rows.map((row) => [
    row['user'],
    row['uid'],
    row['operation'],
    row['path'],
    row['to_path'],
    row['result'],
  ]);
  for (const expected of [
    ['jo', '1000', 'create', '/refused', '', 'EACCES'],
    ['', '0', 'create', '/a', '', 'ok'],
    ['', '0', 'write', '/a', '', 'ok'],
    ['', '0', 'rename', '/a', '/b, "b"', 'ok'],
    ['', '0', 'remove', '/b, "b"', '', 'ok'],
  ])
    assert.ok(
      reported.some((row) => row.join() === expected.join()),
      `${expected.join()} is not among ${JSON.stringify(reported)}`,
    );
  assert.ok(log!.rows.every(({ client: address }) => address?.startsWith('127.')));
  const { from_date_time, to_date_time } = await client.call(auditLogs.getTimeRange, { readable: '' });
  assert.match(String(from_date_time), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  const bounds = [from_date_time, to_date_time].map((moment) => encodeURIComponent(String(moment).slice(0, 19)));
  assert.equal((await download(`?from=${bounds[0]}&to=${bounds[1]}`))[0]?.rows.length, log!.rows.length);
  assert.equal((await download('?to=2026-01-01+00:00:00'))[0]?.rows.length, 0);
  await client.call(volumes.detach, { id, servers: await serversOf(id), force: true });
  await client.call(volumes.delete, { id, timeout: -1 });
  assert.equal((await download())[0]?.name, `${id}.csv`);

  async function serversOf(volume: string): Promise<string[]> {
    return (await client.call(volumes.listServers, { id: volume })).servers.map(({ name }) => name);
  }
});

import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { auditFileName, auditFolder, type AuditRecord } from '../engine/audit.ts';
import { OTHER_SHARE, quotasAlone, SHARE } from '../quotas/testing/quotas-alone.ts';
import { unzip } from '../../kernel/http/testing/unzip.ts';
import { AuditLogService } from './service.ts';

const NOON = Date.UTC(2026, 2, 1, 12);
const DELETED = 'volume-000000ff';

const record = (time: number, changes: Partial<AuditRecord> = {}): AuditRecord => ({
  time,
  uid: 1000,
  gid: 100,
  client: '127.0.0.9',
  operation: 'write',
  path: '/a',
  result: 'ok',
  ...changes,
});

async function setUp(t: TestContext) {
  const { array, folder } = await quotasAlone(t);
  await array.nas.createUser({ username: 'jo', nfsUid: 1000 }, 'dana');
  const write = (volume: string, records: readonly AuditRecord[], rest = '') => {
    const place = join(auditFolder(folder), volume);
    mkdirSync(place, { recursive: true });
    const lines = records.map((one) => `${JSON.stringify(one)}\n`).join('');
    writeFileSync(join(place, auditFileName(records[0]?.time ?? 0)), lines + rest);
  };
  const logs = new AuditLogService(array, array.nas);
  const files = async (from?: string, to?: string) => {
    const zip = unzip(await buffer(await logs.download(from, to)));
    return Object.fromEntries([...zip].map(([name, bytes]) => [name, bytes.toString()]));
  };
  return { folder, logs, write, files };
}

test('nothing logged is an empty range and an archive without files', async (t) => {
  const { logs, files } = await setUp(t);
  assert.equal(await logs.timeRange(), undefined);
  assert.deepEqual(await files(), {});
});

test('an archive has a file for each share that tells who did what to which path from where', async (t) => {
  const { logs, write, files } = await setUp(t);
  write(SHARE, [record(NOON), record(NOON + 5, { operation: 'rename', path: '/a,"b', toPath: '/c\nd', uid: 7 })]);
  write(SHARE, [record(NOON + 60_000, { result: 'EACCES', client: '::1' })]);
  write(DELETED, [record(NOON - 1_000)]);
  assert.deepEqual(await logs.timeRange(), { firstMs: NOON - 1_000, lastMs: NOON + 60_000 });
  const header = 'time,user,uid,gid,client,operation,path,to_path,result\n';
  assert.deepEqual(await files(), {
    [`${SHARE} ${SHARE}.csv`]: `${header}2026-03-01 12:00:00.000 UTC,jo,1000,100,127.0.0.9,write,/a,,ok
2026-03-01 12:00:00.005 UTC,,7,100,127.0.0.9,rename,"/a,""b","/c\nd",ok
2026-03-01 12:01:00.000 UTC,jo,1000,100,::1,write,/a,,EACCES
`,
    [`${DELETED}.csv`]: `${header}2026-03-01 11:59:59.000 UTC,jo,1000,100,127.0.0.9,write,/a,,ok\n`,
  });
});

test('an archive holds what is between two times, both of them included', async (t) => {
  const { write, files } = await setUp(t);
  for (let minute = 0; minute < 5; minute += 1)
    write(SHARE, [
      record(NOON + minute * 60_000, { path: `/${minute}` }),
      record(NOON + minute * 60_000 + 30_500, { path: `/${minute}.5` }),
    ]);
  const paths = async (from?: string, to?: string) =>
    Object.values(await files(from, to))[0]!
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[6]);
  assert.deepEqual(await paths('2026-03-01 12:01:00', '2026-03-01 12:02:30'), ['/1', '/1.5', '/2', '/2.5']);
  assert.deepEqual(await paths('2026-03-01 12:01:01', '2026-03-01 12:02:29'), ['/1.5', '/2']);
  assert.deepEqual(await paths('2026-03-01 12:04:30'), ['/4.5']);
  assert.deepEqual(await paths(undefined, '2026-03-01 12:00:00'), ['/0']);
  assert.deepEqual(await paths('2026-03-02 12:00:00'), []);
  for (const [from, to, field] of [
    ['2026-02-30 00:00:00', undefined, 'from'],
    [undefined, '2026-13-01 00:00:00', 'to'],
    ['2026-03-02 00:00:00', '2026-03-01 00:00:00', 'to'],
  ])
    await assert.rejects(files(from, to), new RegExp(`: ${field} must`));
});

test('a line that a crash cut short, a foreign file and a log that was just deleted are passed over', async (t) => {
  const { folder, logs, write, files } = await setUp(t);
  write(SHARE, [record(NOON), record(NOON + 1_000)], '{"time":1772366402000,"uid":1');
  write(OTHER_SHARE, [], '{"time":17');
  writeFileSync(join(auditFolder(folder), SHARE, 'notes.txt'), 'not ours');
  writeFileSync(join(auditFolder(folder), 'stray'), '');
  assert.deepEqual(await logs.timeRange(), { firstMs: NOON, lastMs: NOON + 1_000 });
  assert.deepEqual(
    Object.values(await files()).map((text) => text.split('\n').length - 2),
    [2, 0],
  );
  write(SHARE, [record(NOON + 5_000)]);
  const archive = await logs.download(undefined, undefined);
  for (const name of readdirSync(join(auditFolder(folder), SHARE))) rmSync(join(auditFolder(folder), SHARE, name));
  assert.equal(unzip(await buffer(archive)).size, 2);
});

test('a long log is read as fast as the archive is taken, and no faster', async (t) => {
  const { folder, logs, write } = await setUp(t);
  write(SHARE, [record(NOON)]);
  // Does not compress well, so that the reader would have to hold all of it.
  let noise = 1;
  const lines = Array.from({ length: 40_000 }, (_, index) => {
    noise = (noise * 1_103_515_245 + 12_345) % 2 ** 31;
    return `${JSON.stringify(record(NOON + index, { path: `/${noise}/${noise ** 2}/${index}` }))}\n`;
  });
  appendFileSync(join(auditFolder(folder), SHARE, auditFileName(NOON)), lines.join(''));
  const archive = await logs.download(undefined, undefined);
  await new Promise((resolve) => archive.once('readable', resolve));
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(archive.readableLength < 200_000, String(archive.readableLength));
  archive.destroy();
});

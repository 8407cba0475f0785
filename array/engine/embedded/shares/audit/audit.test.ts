import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../../../testing/folders.ts';
import { auditFolder, type AuditRecord } from '../../../audit.ts';
import type { EngineEvent } from '../../../events.ts';
import { servedShare, shareRig } from '../testing/share-rig.ts';
import { ShareAuditLogs } from './audit-logs.ts';

function recordsIn(folder: string, volume: string): AuditRecord[] {
  const within = join(auditFolder(folder), volume);
  return readdirSync(within)
    .sort()
    .flatMap((name) => readFileSync(join(within, name), 'utf8').split('\n'))
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as AuditRecord];
      } catch {
        return [];
      }
    });
}

const record = (time: number, path = '/f'): AuditRecord => {
  return { time, uid: 1, gid: 1, client: '127.0.0.1', operation: 'create', path, result: 'ok' };
};

test('who did what to which path is on record, refusals as well, while that is wanted', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files', { isAudited: true });
  const client = await rig.client3('files', 7);
  const directory = await client.mkdir(client.root, 'd', { mode: 0o755 });
  const { handle } = await client.create(directory.handle, 'f', { mode: 0o600 });
  for (let times = 0; times < 3; times += 1) await client.write(handle, 0, Buffer.from('x'));
  await client.read(handle, 0, 1);
  await client.setattr(handle, { mode: 0o400 });
  await client.link(handle, client.root, 'g');
  await client.rename(client.root, 'g', directory.handle, 'h');
  const stranger = await rig.client3('files', 8);
  await stranger.read(handle, 0, 1);
  await stranger.remove(directory.handle, 'f');
  await client.remove(directory.handle, 'f');
  await rig.shares.putShare(servedShare('files', { isAudited: false }));
  await client.mkdir(client.root, 'unseen');
  await rig.shares.putShare(servedShare('files', { isAudited: true }));
  await client.rmdir(client.root, 'unseen');
  await rig.engine.close();
  const records = recordsIn(rig.folder, 'files');
  assert.deepEqual(
    records.map(({ uid, operation, path, toPath = '', result }) => [uid, operation, path, toPath, result].join(' ')),
    [
      '7 mkdir /d  ok',
      '7 create /d/f  ok',
      '7 write /d/f  ok',
      '7 read /d/f  ok',
      '7 setattr /d/f  ok',
      '7 link /d/f /g ok',
      '7 rename /g /d/h ok',
      '8 read /d/f  EACCES',
      '8 remove /d/f  EACCES',
      '7 remove /d/f  ok',
      '7 rmdir /unseen  ok',
    ],
  );
  assert.ok(records.every(({ client: address, time }) => address === '127.0.0.1' && time <= Date.now()));
});

test('logs begin anew after a restart, are of bounded size, and the oldest are dropped', async (t) => {
  const folder = temporaryFolder(t);
  const events: EngineEvent[] = [];
  const problems: string[] = [];
  const setup = {
    folder,
    onEvent: (event: EngineEvent) => void events.push(event),
    onProblem: (problem: string) => void problems.push(problem),
    fileBytesMax: 1000,
    bytesMax: 4000,
  };
  const old = new ShareAuditLogs(setup);
  old.record('gone', record(1000));
  await old.close();
  appendFileSync(join(auditFolder(folder), 'gone', '1000.log'), '{"time":10');
  const logs = new ShareAuditLogs(setup);
  logs.record('gone', record(1000, '/after'));
  for (let time = 2000; time < 2100; time += 1) {
    logs.record('files', time % 2 === 0 ? record(time) : Promise.resolve(record(time)));
    if (time === 2001) {
      await logs.flush();
      assert.deepEqual(
        recordsIn(folder, 'gone').map(({ path }) => path),
        ['/f', '/after'],
        'a line that was cut short takes no other one along',
      );
    }
    if (time % 5 === 0) await logs.flush();
  }
  await logs.close();
  const times = recordsIn(folder, 'files').map(({ time }) => time);
  assert.deepEqual(
    times,
    times.map((_, index) => 2100 - times.length + index),
    'the last ones, in order',
  );
  assert.ok(times.length > 10 && times.length < 60);
  assert.deepEqual(readdirSync(join(auditFolder(folder), 'gone')), []);
  assert.deepEqual(events[0], { type: 'audit-space-reclaimed', volume: 'gone', untilMs: 1000 });
  assert.ok(events.slice(1).every((event) => event.type === 'audit-space-reclaimed' && event.volume === 'files'));
  assert.deepEqual(problems, []);
});

test('records wait while the logs cannot be written', async (t) => {
  const folder = temporaryFolder(t);
  const problems: string[] = [];
  const logs = new ShareAuditLogs({
    folder,
    onEvent: () => undefined,
    onProblem: (problem: string) => void problems.push(problem),
  });
  // A file where the folder should be.
  mkdirSync(auditFolder(folder));
  appendFileSync(join(auditFolder(folder), 'files'), '');
  logs.record('files', record(1));
  await logs.flush();
  assert.equal(problems.length, 1);
  rmSync(join(auditFolder(folder), 'files'));
  logs.record('files', record(2));
  await logs.close();
  assert.deepEqual(
    recordsIn(folder, 'files').map(({ time }) => time),
    [1, 2],
  );
});

import assert from 'node:assert/strict';
import childProcess, { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { bunzip2 } from './bunzip2.ts';
import { serveSwift, type SwiftFixture } from '../testing/serve.ts';

let swift: SwiftFixture;
let archive: Buffer;
before(async () => {
  swift = await serveSwift();
  const folder = mkdtempSync(join(tmpdir(), 'bulk-'));
  mkdirSync(join(folder, 'in'));
  writeFileSync(join(folder, 'in', 'small ü.txt'), 'small');
  writeFileSync(join(folder, 'in', 'large'), 'l'.repeat(1_500_000));
  writeFileSync(join(folder, 'in', 'empty'), '');
  archive = execFileSync('tar', ['-c', '-C', folder, 'in'], { maxBuffer: 1e7 });
  rmSync(folder, { recursive: true });
});
after(() => swift.close());

const json = { accept: 'application/json' };
const report = (text: string) => JSON.parse(text) as Record<string, unknown>;

test('a list of names is deleted, and what could not be deleted is reported', async () => {
  for (const name of ['/a', '/b']) await swift.ask(name, { method: 'PUT' });
  for (const path of ['/a/1', '/a/%C3%BC%20x', '/b/1']) await swift.put(path, 'xyz');
  const body = ['/a/1', 'a/%C3%BC%20x', '/a', '/none/1', '/a/2', '/b', ''].join('\r\n');
  const reply = await swift.ask('?bulk-delete', {
    method: 'POST',
    body,
    headers: { ...json, 'content-type': 'text/plain' },
  });
  assert.equal(reply.status, 200);
  const { Errors, ...rest } = report(reply.text);
  assert.deepEqual(rest, {
    'Number Deleted': 3,
    'Number Not Found': 2,
    'Response Status': '400 Bad Request',
    'Response Body': '',
  });
  assert.deepEqual(Errors, [['/b', '409 Conflict']]);
  assert.equal(swift.records.at(-1)?.bytesDeleted, 6);
  assert.match((await swift.ask('?bulk-delete', { method: 'POST', body: '/b/1' })).text, /^Number Deleted: 1\n/);
  assert.equal((await swift.ask('?bulk-delete', { method: 'POST', body: '' })).status, 400);
  const many = { method: 'POST', body: '/b/1\n'.repeat(10_001) };
  assert.equal((await swift.ask('?bulk-delete', many)).status, 413);
  assert.equal((await swift.ask('?bulk-delete', { method: 'POST', body: '/b/1', token: null })).status, 401);
  await swift.put('/b/kept', 'x');
  const foreign = await swift.ask('?bulk-delete', { method: 'POST', body: '/b/kept', token: 'tk-bob', headers: json });
  assert.deepEqual(report(foreign.text)['Errors'], [['/b/kept', '403 Forbidden']]);
});

test('an archive becomes objects', async () => {
  for (const [kind, body, path] of [
    ['tar', archive, ''],
    ['tar.gz', gzipSync(archive), '/deep/er'],
  ] as const) {
    if (path !== '') await swift.ask('/deep', { method: 'PUT' });
    const reply = await swift.put(`${path}?extract-archive=${kind}`, body, json);
    const expected = { 'Number Files Created': 3, 'Response Status': '201 Created', 'Response Body': '', Errors: [] };
    assert.deepEqual(report(reply.text), expected);
    assert.equal((await swift.ask(`${path}/in/small%20%C3%BC.txt`)).text, 'small');
    assert.equal((await swift.ask(`${path}/in/large`)).text, 'l'.repeat(1_500_000));
    assert.equal((await swift.ask(`${path}/in/empty`)).body.length, 0);
  }
});

/** Debian's own program, that arrays use, too. */
const hasBzip2 = spawnSync('bzip2', ['-c'], { input: '' }).status === 0;

test('an archive in bzip2 becomes objects', { skip: hasBzip2 ? false : 'bzip2 is not installed' }, async () => {
  await swift.ask('/bz', { method: 'PUT' });
  const packed = execFileSync('bzip2', ['-c'], { input: archive });
  const reply = await swift.put('/bz?extract-archive=tar.bz2', packed, json);
  const expected = { 'Number Files Created': 3, 'Response Status': '201 Created', 'Response Body': '', Errors: [] };
  assert.deepEqual(report(reply.text), expected);
  assert.equal((await swift.ask('/bz/in/large')).text, 'l'.repeat(1_500_000));
  for (const broken of [archive, packed.subarray(0, packed.length / 2)]) {
    const refused = await swift.put('/bz/broken?extract-archive=tar.bz2', broken, json);
    assert.match(String(report(refused.text)['Response Body']), /^Invalid Tar File/);
  }
});

test('a process that cannot be started takes no place of those at once', async (t) => {
  t.mock.method(childProcess, 'spawn', () => {
    throw new Error('no process');
  });
  syncBuiltinESMExports();
  try {
    for (let tries = 0; tries < 6; tries++) {
      await assert.rejects(bunzip2(Readable.from([]), 'an account').next(), /no process/);
    }
  } finally {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  }
});

test('without bzip2 on the machine its archives are refused in words', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = '/nowhere';
  try {
    const reply = await swift.put('/bz?extract-archive=tar.bz2', archive, json);
    assert.deepEqual([reply.status, /program bzip2/.test(reply.text)], [400, true]);
  } finally {
    process.env['PATH'] = path;
  }
});

test('a report in a format that is not there is refused before anything is changed', async () => {
  const headers = { accept: 'image/png' };
  await swift.ask('/formed', { method: 'PUT' });
  await swift.put('/formed/kept', 'x');
  assert.equal((await swift.ask('?bulk-delete', { method: 'POST', body: '/formed/kept', headers })).status, 406);
  assert.equal((await swift.ask('/formed/kept')).text, 'x');
  assert.equal((await swift.put('/formed/out?extract-archive=tar', archive, headers)).status, 406);
  assert.equal((await swift.ask('/formed')).text, 'kept\n');
});

test('what is no archive is refused', async () => {
  assert.equal((await swift.put('/x?extract-archive=zip', archive)).status, 400);
  const noGzip = await swift.put('/x?extract-archive=tar.gz', archive, json);
  assert.equal(report(noGzip.text)['Response Status'], '400 Bad Request');
  const noTar = await swift.put('/x?extract-archive=tar', 'x'.repeat(5000), json);
  assert.match(String(report(noTar.text)['Response Body']), /^Invalid Tar File/);
  assert.equal((await swift.ask('/x?extract-archive=tar', { method: 'PUT', token: null, body: archive })).status, 401);
});

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startGranary, type Granary } from './granary.ts';
import { openAccount, orderObjects, type ObjectAccount } from './object-account.ts';
import { ended, fingerprint, hashOf, makeTree, printed, skipWithoutProgram, type Surroundings } from './programs.ts';

/** A file system and a backup on S3, and the library that most scripts use: as Debian has them, with their defaults. */
const MEGABYTE = 2 ** 20;
const BIG = 60 * MEGABYTE;
const DEBIAN_PYTHON = '/usr/bin/python3';
const DEBIAN_MODULES = '/usr/lib/python3/dist-packages';

const withoutBoto3 = await skipWithoutModule();
const skip = {
  s3fs: await skipWithoutFuse(),
  duplicity: withoutBoto3 || (await skipWithoutProgram('duplicity', 'duplicity')),
  boto3: withoutBoto3,
};

let folder: string;
let granary: Granary;
let account: ObjectAccount;
/** 60 MB of noise: several parts for every client. */
let big: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  granary = await startGranary(join(folder, 'data'));
  account = await openAccount(await orderObjects(await granary.admin(), 'depot', 4), 'acme', 'ana');
  big = join(folder, 'big');
  writeFileSync(big, randomBytes(BIG));
});

after(async () => {
  await granary.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

/** Debian's boto3, whatever else this machine has under that name. */
function surroundings(cwd: string): Surroundings {
  const env = {
    AWS_ACCESS_KEY_ID: account.accessKey,
    AWS_SECRET_ACCESS_KEY: account.secretKey,
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_EC2_METADATA_DISABLED: 'true',
    PYTHONPATH: DEBIAN_MODULES,
  };
  return { cwd, env };
}

async function skipWithoutModule(): Promise<string | false> {
  const script = 'if ! [ -d "$0/boto3" ]; then exit 1; fi';
  const isThere = async () => (await ended('sh', ['-c', script, DEBIAN_MODULES], { cwd: '/', env: {} })).code === 0;
  if (await isThere()) return false;
  // Asked for by a program's name, it is installed where it can be.
  await skipWithoutProgram('no-program-of-python3-boto3', 'python3-boto3');
  return (await isThere()) ? false : 'boto3 is not installed (Debian package python3-boto3)';
}

async function skipWithoutFuse(): Promise<string | false> {
  const lacking = await skipWithoutProgram('s3fs', 's3fs');
  if (lacking !== false) return lacking;
  try {
    closeSync(openSync('/dev/fuse', 'r+'));
    return false;
  } catch {
    return 'this user may not mount by FUSE (/dev/fuse)';
  }
}

test('boto3: presigned addresses, multipart uploads and versions', { skip: skip.boto3 }, async () => {
  const script = join(import.meta.dirname, 'boto3-client.py');
  const out = await printed(DEBIAN_PYTHON, [script, account.endpoint, big], surroundings(folder));
  assert.equal(out, 'DONE\n');
});

test(
  'duplicity: backs up in full and in part, verifies, restores and tidies up',
  { skip: skip.duplicity },
  async () => {
    const cwd = mkdtempSync(join(folder, 'duplicity-'));
    const { env } = surroundings(cwd);
    const around: Surroundings = { cwd, env: { ...env, PASSPHRASE: 'of the backup' } };
    const source = join(cwd, 'source');
    makeTree(source, 60);
    cpSync(big, join(source, 'big'));
    const make = 'import boto3, sys; boto3.client("s3", endpoint_url=sys.argv[1]).create_bucket(Bucket="backups")';
    await printed(DEBIAN_PYTHON, ['-c', make, account.endpoint], around);
    const where = ['--s3-endpoint-url', account.endpoint, '--s3-region-name', 'us-east-1'];
    const url = 'boto3+s3://backups/of/source';
    const duplicity = (...args: string[]) =>
      printed('duplicity', [...args.slice(0, -2), ...where, ...args.slice(-2)], around);

    assert.match(await duplicity('full', '--volsize', '20', 'source', url), /Errors 0/);
    const first = fingerprint(source);
    assert.match(await duplicity('verify', '--compare-data', url, 'source'), / 0 differences found/);
    writeFileSync(join(source, 'd8', 'f8.bin'), 'changed');
    rmSync(join(source, 'd9'), { recursive: true });
    const differing = await ended('duplicity', ['verify', '--compare-data', ...where, url, 'source'], around);
    assert.match(differing.stdout, /[1-9]\d* differences found/);
    assert.match(await duplicity('incremental', 'source', url), /ChangedFiles [1-9][\s\S]*Errors 0/);
    await duplicity('restore', url, 'restored');
    assert.deepEqual(fingerprint(join(cwd, 'restored')), fingerprint(source));
    // Nothing of the machine's cache is needed.
    rmSync(join(cwd, '.cache'), { recursive: true });
    await duplicity('restore', '--time', 'now', '--file-to-restore', 'big', url, 'one');
    assert.equal(hashOf(join(cwd, 'one')), hashOf(big));
    assert.match(await printed('duplicity', ['collection-status', ...where, url], around), /Full[\s\S]*Incremental/);
    await printed('duplicity', ['full', ...where, 'source', url], around);
    await printed('duplicity', ['remove-all-but-n-full', '1', '--force', ...where, url], around);
    const left = await printed('duplicity', ['collection-status', ...where, url], around);
    assert.doesNotMatch(left, /Incremental +\w/);
    assert.ok(Object.keys(first).length > Object.keys(fingerprint(source)).length);

    const wrong = { cwd, env: { ...around.env, AWS_SECRET_ACCESS_KEY: 'wrong' } };
    const failed = await ended('duplicity', ['collection-status', '--num-retries', '1', ...where, url], wrong);
    assert.notEqual(failed.code, 0);
    assert.match(`${failed.stdout}${failed.stderr}`, /403|Forbidden|SignatureDoesNotMatch/);
  },
);

test('s3fs: a bucket is used as a folder of files', { skip: skip.s3fs }, async (t) => {
  const cwd = mkdtempSync(join(folder, 's3fs-'));
  const around = surroundings(cwd);
  const keys = join(cwd, 'keys');
  writeFileSync(keys, `${account.accessKey}:${account.secretKey}\n`, { mode: 0o600 });
  const options = [`url=${account.endpoint}`, 'use_path_request_style', `passwd_file=${keys}`, 'retries=1'];
  const mount = async (name: string, ...more: string[]) => {
    const at = join(cwd, name);
    mkdirSync(at, { recursive: true });
    await printed('s3fs', ['shelf', at, ...[...options, ...more].flatMap((option) => ['-o', option])], around);
    return at;
  };
  const unmount = (at: string) => ended('umount', [at], around);
  t.after(async () => {
    for (const name of ['files', 'again', 'wrong']) await unmount(join(cwd, name));
  });
  const tree = join(cwd, 'tree');
  makeTree(tree, 40);

  const files = await mount('files', 'createbucket');
  cpSync(tree, join(files, 'tree'), { recursive: true });
  assert.deepEqual(fingerprint(join(files, 'tree')), fingerprint(tree));
  cpSync(big, join(files, 'big'));
  assert.equal(hashOf(join(files, 'big')), hashOf(big));
  writeFileSync(join(files, 'log'), 'one\n');
  appendFileSync(join(files, 'log'), 'two\n');
  assert.equal(readFileSync(join(files, 'log'), 'utf8'), 'one\ntwo\n');
  const middle = openSync(join(files, 'big'), 'r+');
  writeSync(middle, Buffer.from('changed'), 0, 7, 30 * MEGABYTE);
  closeSync(middle);
  chmodSync(join(files, 'log'), 0o640);
  symlinkSync('log', join(files, 'link'));
  mkdirSync(join(files, 'empty'));
  renameSync(join(files, 'tree'), join(files, 'wood'));
  truncateSync(join(files, 'wood', 'd8', 'f8.bin'), 3);
  rmSync(join(files, 'wood', 'd9'), { recursive: true });
  const left = fingerprint(files);
  assert.equal((await unmount(files)).code, 0);

  const again = await mount('again');
  assert.deepEqual(fingerprint(again), left);
  assert.deepEqual(readdirSync(again).sort(), ['big', 'empty', 'link', 'log', 'wood']);
  const bytes = readFileSync(join(again, 'big'));
  const expected = readFileSync(big);
  expected.write('changed', 30 * MEGABYTE);
  assert.ok(bytes.equals(expected));
  assert.equal(statSync(join(again, 'log')).mode & 0o777, 0o640);
  assert.equal(readlinkSync(join(again, 'link')), 'log');
  assert.equal(readFileSync(join(again, 'link'), 'utf8'), 'one\ntwo\n');
  assert.ok(!existsSync(join(again, 'wood', 'd9')));
  rmSync(join(again, 'wood'), { recursive: true });
  assert.deepEqual(readdirSync(again).sort(), ['big', 'empty', 'link', 'log']);
  assert.equal((await unmount(again)).code, 0);

  writeFileSync(keys, `${account.accessKey}:wrong\n`);
  mkdirSync(join(cwd, 'wrong'));
  const given = ['-f', ...options.flatMap((option) => ['-o', option])];
  const refused = await ended('s3fs', ['shelf', join(cwd, 'wrong'), ...given], around);
  assert.match(`${refused.stdout}${refused.stderr}`, /invalid credentials|403/i);
});

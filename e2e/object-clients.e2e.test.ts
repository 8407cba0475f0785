import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { awsSdk, skipWithoutAwsSdk } from './aws-sdk.ts';
import { startGranary, type Granary } from './granary.ts';
import { openAccount, orderObjects, type ObjectAccount } from './object-account.ts';
import { ended, fingerprint, hashOf, makeTree, printed, skipWithoutProgram, type Surroundings } from './programs.ts';

/** The programs people use, as Debian and npm have them, against an object storage array that was ordered. */
const MEGABYTE = 2 ** 20;
const BIG = 60 * MEGABYTE;
/** The whole of it takes a minute and more: `npm run torture` has that. */
const RCLONE_FILES = process.env['GRANARY_TORTURE'] ? 10_000 : 1_000;

const skip = {
  aws: await skipWithoutProgram('aws', 'awscli'),
  rclone: await skipWithoutProgram('rclone', 'rclone'),
  s3cmd: await skipWithoutProgram('s3cmd', 's3cmd'),
  restic: await skipWithoutProgram('restic', 'restic'),
  swift: await skipWithoutProgram('swift', 'python3-swiftclient'),
  sdk: await skipWithoutAwsSdk(),
};

let folder: string;
let granary: Granary;
let account: ObjectAccount;
/** 60 MB of noise: several parts or segments for every client. */
let big: string;
let small: string;
let tree: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  granary = await startGranary(join(folder, 'data'));
  const objects = await orderObjects(await granary.admin(), 'depot', 4);
  account = await openAccount(objects, 'acme', 'ana');
  big = join(folder, 'big');
  small = join(folder, 'small');
  tree = join(folder, 'tree');
  writeFileSync(big, randomBytes(BIG));
  writeFileSync(small, randomBytes(1000));
  makeTree(tree, 60);
});

after(async () => {
  await granary.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

/** A folder of the test's own, in which a client finds its settings and leaves what it fetched. */
function workplace(t: TestContext): string {
  return mkdtempSync(join(folder, `${t.name.replace(/\W.*/, '')}-`));
}

function keys(secret = account.secretKey): Record<string, string> {
  return { AWS_ACCESS_KEY_ID: account.accessKey, AWS_SECRET_ACCESS_KEY: secret, AWS_DEFAULT_REGION: 'us-east-1' };
}

test('awscli: copies, syncs, signs addresses and sets up buckets', { skip: skip.aws }, async (t) => {
  const cwd = workplace(t);
  const settings = join(cwd, 'aws.conf');
  // Without it old versions sign addresses by Signature V2.
  writeFileSync(settings, '[default]\ns3 =\n  signature_version = s3v4\n');
  const around = (secret?: string): Surroundings => ({
    cwd,
    env: { ...keys(secret), AWS_CONFIG_FILE: settings, AWS_EC2_METADATA_DISABLED: 'true' },
  });
  const aws = (...args: string[]) => printed('aws', ['--endpoint-url', account.endpoint, ...args], around());
  const api = async <T>(...args: string[]) => JSON.parse((await aws('s3api', ...args)) || '{}') as T;
  const refused = async (...args: string[]) =>
    (await ended('aws', ['--endpoint-url', account.endpoint, ...args], around())).stderr;

  await aws('s3', 'mb', 's3://aws-books');
  await aws('s3', 'cp', small, 's3://aws-books/small');
  await aws('s3', 'cp', big, 's3://aws-books/big');
  await aws('s3', 'cp', 's3://aws-books/big', join(cwd, 'big'));
  assert.equal(hashOf(join(cwd, 'big')), hashOf(big));
  const head = await api<{ ContentLength: number; ETag: string }>(
    ...['head-object', '--bucket', 'aws-books', '--key', 'big'],
  );
  assert.equal(head.ContentLength, BIG);
  assert.match(head.ETag, /^"[0-9a-f]{32}-8"$/, 'eight parts of 8 MB');

  await aws('s3', 'sync', tree, 's3://aws-books/tree');
  assert.equal(await aws('s3', 'sync', tree, 's3://aws-books/tree'), '', 'nothing is left to do');
  await aws('s3', 'sync', 's3://aws-books/tree', join(cwd, 'tree'));
  assert.deepEqual(fingerprint(join(cwd, 'tree')), fingerprint(tree));
  assert.match(await aws('s3', 'ls', 's3://aws-books'), /PRE tree\/\n.* 62914560 big\n.* 1000 small\n$/);

  const address = (await aws('s3', 'presign', 's3://aws-books/small')).trim();
  assert.match(address, /X-Amz-Signature=/);
  assert.deepEqual(Buffer.from(await (await fetch(address)).arrayBuffer()), readFileSync(small));
  assert.equal((await fetch(address.replace('small?', 'big?'))).status, 403);

  const bucket = ['--bucket', 'aws-books'];
  await api('put-bucket-versioning', ...bucket, '--versioning-configuration', 'Status=Enabled');
  assert.deepEqual(await api('get-bucket-versioning', ...bucket), { Status: 'Enabled' });
  await api('put-object', ...bucket, '--key', 'small', '--body', big, '--metadata', 'colour=blue');
  const { Versions } = await api<{ Versions: { VersionId: string; Size: number; IsLatest: boolean }[] }>(
    ...['list-object-versions', ...bucket, '--prefix', 'small'],
  );
  assert.deepEqual(
    Versions.map(({ Size, IsLatest }) => [Size, IsLatest]),
    [
      [BIG, true],
      [1000, false],
    ],
  );
  const version = ['--key', 'small', '--version-id', Versions[1]!.VersionId];
  await api('get-object', ...bucket, ...version, join(cwd, 'small'));
  assert.equal(hashOf(join(cwd, 'small')), hashOf(small));

  const tagging = { TagSet: [{ Key: 'shelf', Value: 'north' }] };
  await api('put-object-tagging', ...bucket, '--key', 'big', '--tagging', JSON.stringify(tagging));
  assert.deepEqual((await api<typeof tagging>('get-object-tagging', ...bucket, '--key', 'big')).TagSet, tagging.TagSet);
  const rule = { ID: 'old', Status: 'Enabled', Filter: { Prefix: 'tree/' }, Expiration: { Days: 30 } };
  const lifecycle = JSON.stringify({ Rules: [rule] });
  await api('put-bucket-lifecycle-configuration', ...bucket, '--lifecycle-configuration', lifecycle);
  const kept = await api<{ Rules: unknown }>('get-bucket-lifecycle-configuration', ...bucket);
  assert.deepEqual(kept.Rules, [rule]);
  const statement = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::aws-books/big' };
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  await api('put-bucket-policy', ...bucket, '--policy', policy);
  assert.equal((await fetch(`${account.endpoint}/aws-books/big`, { method: 'HEAD' })).status, 200);
  assert.equal((await fetch(`${account.endpoint}/aws-books/small`, { method: 'HEAD' })).status, 403);

  assert.match(await refused('s3', 'rb', 's3://aws-books'), /BucketNotEmpty.*not empty/);
  assert.match(await refused('s3', 'ls', 's3://no-such-bucket'), /NoSuchBucket/);
  const wrong = ['--endpoint-url', account.endpoint, 's3', 'ls', 's3://aws-books'];
  assert.match((await ended('aws', wrong, around('a wrong secret'))).stderr, /SignatureDoesNotMatch.*secret key/);

  await aws('s3', 'mb', 's3://aws-plain');
  await aws('s3', 'cp', '--recursive', tree, 's3://aws-plain');
  await aws('s3', 'rm', '--recursive', 's3://aws-plain');
  await aws('s3', 'rb', 's3://aws-plain');
  assert.doesNotMatch(await aws('s3', 'ls'), /aws-plain/);
});

test('rclone: syncs and checks many files both ways over S3', { skip: skip.rclone }, async (t) => {
  const cwd = workplace(t);
  const around = { cwd, env: rcloneSettings() };
  const rclone = (...args: string[]) => printed('rclone', [...args, '--transfers=16', '--checkers=16'], around);
  const many = join(cwd, 'many');
  makeTree(many, RCLONE_FILES);

  const begun = Date.now();
  await rclone('sync', many, 's3:rclone-many');
  const up = Date.now();
  await rclone('check', many, 's3:rclone-many');
  const checked = Date.now();
  await rclone('sync', 's3:rclone-many', join(cwd, 'back'));
  const down = Date.now();
  await rclone('check', 's3:rclone-many', join(cwd, 'back'));
  t.diagnostic(`up ${up - begun} ms, check ${checked - up} ms, down ${down - checked} ms`);
  assert.deepEqual(fingerprint(join(cwd, 'back')), fingerprint(many));

  const some = [join(many, 'd8'), 's3:rclone-many/d8'] as const;
  writeFileSync(join(many, 'd8', 'f8.bin'), 'changed');
  rmSync(join(many, 'd8', 'f108.bin'));
  assert.match((await ended('rclone', ['check', ...some], around)).stderr, /2 differences found/);
  await rclone('sync', ...some);
  await rclone('check', ...some);
  await rclone('copy', big, 's3:rclone-many/large', '--s3-chunk-size=8M');
  await rclone('copy', 's3:rclone-many/large', cwd);
  assert.equal(hashOf(join(cwd, 'big')), hashOf(big));
  await rclone('purge', 's3:rclone-many/d8');
  assert.doesNotMatch(await rclone('lsf', 's3:rclone-many'), /^d8\/$/m);
});

test('rclone: syncs and checks over Swift, large objects in segments', { skip: skip.rclone }, async (t) => {
  const cwd = workplace(t);
  const around = { cwd, env: rcloneSettings() };
  const rclone = (...args: string[]) => printed('rclone', args, around);

  await rclone('sync', tree, 'swift:rclone-few/tree');
  await rclone('check', tree, 'swift:rclone-few/tree');
  await rclone('sync', 'swift:rclone-few/tree', join(cwd, 'back'));
  assert.deepEqual(fingerprint(join(cwd, 'back')), fingerprint(tree));
  await rclone('check', '--download', 's3:rclone-few/tree', 'swift:rclone-few/tree');
  await rclone('copy', big, 'swift:rclone-few/large', '--swift-chunk-size=16M');
  await rclone('copy', 'swift:rclone-few/large', cwd);
  assert.equal(hashOf(join(cwd, 'big')), hashOf(big));
  await rclone('purge', 'swift:rclone-few');

  const wrong = { ...around, env: { ...around.env, RCLONE_CONFIG_SWIFT_KEY: 'wrong' } };
  assert.match((await ended('rclone', ['lsd', 'swift:', '--retries=1'], wrong)).stderr, /Authorization Failed/);
});

/** Two remotes, `s3:` and `swift:`, of the same account. */
function rcloneSettings(): Record<string, string> {
  return {
    ...keys(),
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_S3_TYPE: 's3',
    RCLONE_CONFIG_S3_PROVIDER: 'Other',
    RCLONE_CONFIG_S3_ENV_AUTH: 'true',
    RCLONE_CONFIG_S3_ENDPOINT: account.endpoint,
    RCLONE_CONFIG_S3_REGION: 'us-east-1',
    RCLONE_CONFIG_SWIFT_TYPE: 'swift',
    RCLONE_CONFIG_SWIFT_USER: `${account.account}:${account.user}`,
    RCLONE_CONFIG_SWIFT_KEY: account.password,
    RCLONE_CONFIG_SWIFT_AUTH: `${account.endpoint}/auth/v1.0`,
  };
}

test('s3cmd: puts, gets, syncs, copies and opens objects', { skip: skip.s3cmd }, async (t) => {
  const cwd = workplace(t);
  const { host } = new URL(account.endpoint);
  const settings = join(cwd, 's3cfg');
  const lines = [
    `access_key = ${account.accessKey}`,
    `secret_key = ${account.secretKey}`,
    `host_base = ${host}`,
    `host_bucket = ${host}`,
    'use_https = False',
  ];
  writeFileSync(settings, ['[default]', ...lines, ''].join('\n'));
  const around = { cwd, env: {} };
  const s3cmd = (...args: string[]) => printed('s3cmd', ['-c', settings, '--no-progress', ...args], around);

  await s3cmd('mb', 's3://s3cmd-shelf');
  await s3cmd('put', small, 's3://s3cmd-shelf/small');
  await s3cmd('put', big, 's3://s3cmd-shelf/big');
  await s3cmd('get', 's3://s3cmd-shelf/big', join(cwd, 'big'));
  assert.equal(hashOf(join(cwd, 'big')), hashOf(big));
  await s3cmd('sync', `${tree}/`, 's3://s3cmd-shelf/tree/');
  await s3cmd('sync', 's3://s3cmd-shelf/tree/', `${join(cwd, 'tree')}/`);
  assert.deepEqual(fingerprint(join(cwd, 'tree')), fingerprint(tree));
  assert.match(await s3cmd('info', 's3://s3cmd-shelf/big'), /File size: 62914560[\s\S]*ACL: +acme: FULL_CONTROL/);
  await s3cmd('cp', 's3://s3cmd-shelf/small', 's3://s3cmd-shelf/copy');
  await s3cmd('mv', 's3://s3cmd-shelf/copy', 's3://s3cmd-shelf/moved');
  assert.match(await s3cmd('ls', 's3://s3cmd-shelf'), /big\n.*moved\n.*small\n$/);
  const open = `${account.endpoint}/s3cmd-shelf/moved`;
  assert.equal((await fetch(open)).status, 403);
  await s3cmd('setacl', '--acl-public', 's3://s3cmd-shelf/moved');
  assert.deepEqual(Buffer.from(await (await fetch(open)).arrayBuffer()), readFileSync(small));

  const wrong = ['-c', settings, '--secret_key=wrong', 'ls', 's3://s3cmd-shelf'];
  assert.match((await ended('s3cmd', wrong, around)).stderr, /SignatureDoesNotMatch.*secret key/);
  // It signs addresses by Signature V2 only.
  const address = (await s3cmd('signurl', 's3://s3cmd-shelf/small', '+600')).trim();
  assert.match(address, /AWSAccessKeyId=/);
  assert.deepEqual(Buffer.from(await (await fetch(address)).arrayBuffer()), readFileSync(small));
  assert.equal((await fetch(address.replace('small', 'big'))).status, 403);
  await s3cmd('rb', '--force', '--recursive', 's3://s3cmd-shelf');
  assert.doesNotMatch(await s3cmd('ls'), /s3cmd-shelf/);
});

test('restic: backs up, checks all data, restores and prunes', { skip: skip.restic }, async (t) => {
  const cwd = workplace(t);
  const source = join(cwd, 'source');
  mkdirSync(source);
  cpSync(tree, join(source, 'tree'), { recursive: true });
  cpSync(big, join(source, 'big'));
  const env = {
    ...keys(),
    RESTIC_REPOSITORY: `s3:${account.endpoint}/restic-backups`,
    RESTIC_PASSWORD: 'of the repository',
    RESTIC_CACHE_DIR: join(cwd, 'cache'),
  };
  const restic = (...args: string[]) => printed('restic', args, { cwd, env });

  await restic('init');
  await restic('backup', 'source');
  const original = fingerprint(source);
  writeFileSync(join(source, 'later'), 'written after the first backup');
  await restic('backup', 'source');
  assert.match(await restic('check', '--read-data'), /no errors were found/);
  await restic('restore', 'latest', '--target', join(cwd, 'restored'));
  assert.deepEqual(fingerprint(join(cwd, 'restored', 'source')), fingerprint(source));
  await restic('forget', '--keep-last', '1', '--prune');
  assert.match(await restic('snapshots'), /\n1 snapshots/);
  assert.match(await restic('check', '--read-data'), /no errors were found/);
  assert.equal(Object.keys(original).length + 1, Object.keys(fingerprint(source)).length);

  const wrong = { cwd, env: { ...env, ...keys('wrong') } };
  assert.match((await ended('restic', ['snapshots'], wrong)).stderr, /Access ?Denied|signature/i);
});

test('swift: uploads in segments, downloads, shows, changes and deletes', { skip: skip.swift }, async (t) => {
  const cwd = workplace(t);
  const env = {
    ST_AUTH: `${account.endpoint}/auth/v1.0`,
    ST_USER: `${account.account}:${account.user}`,
    ST_KEY: account.password,
  };
  const swift = (...args: string[]) => printed('swift', args, { cwd, env });
  const segments = ['--segment-size', String(10 * MEGABYTE)];

  await swift('post', 'swift-photos');
  await swift('upload', 'swift-photos', small, '--object-name', 'small');
  await swift('upload', '--use-slo', ...segments, 'swift-photos', big, '--object-name', 'static');
  await swift('upload', ...segments, 'swift-photos', big, '--object-name', 'dynamic');
  for (const name of ['static', 'dynamic']) {
    assert.match(await swift('stat', 'swift-photos', name), /Content Length: 62914560/);
    await swift('download', 'swift-photos', name, '-o', name);
    assert.equal(hashOf(join(cwd, name)), hashOf(big), name);
  }
  await swift('post', '-m', 'colour:blue', 'swift-photos', 'small');
  assert.match(await swift('stat', 'swift-photos', 'small'), /Content Length: 1000[\s\S]*Meta Colour: blue/);
  cpSync(tree, join(cwd, 'tree'), { recursive: true });
  await swift('upload', 'swift-photos', 'tree');
  await swift('download', 'swift-photos', '--prefix', 'tree/', '--output-dir', 'back');
  assert.deepEqual(fingerprint(join(cwd, 'back', 'tree')), fingerprint(tree));

  await swift('post', '-m', 'Temp-URL-Key:a secret of the account');
  const path = `/v1/AUTH_${account.accountId}/swift-photos/small`;
  const address = (await swift('tempurl', 'GET', '600', path, 'a secret of the account')).trim();
  const fetched = await fetch(`${account.endpoint}${address}`);
  assert.deepEqual(Buffer.from(await fetched.arrayBuffer()), readFileSync(small));

  const wrong = await ended('swift', ['stat'], { cwd, env: { ...env, ST_KEY: 'wrong' } });
  assert.match(wrong.stderr, /401 Unauthorized/);
  await swift('delete', 'swift-photos', 'static');
  assert.doesNotMatch(await swift('list', 'swift-photos_segments'), /static/, 'its segments went with it');
  await swift('delete', 'swift-photos');
  assert.doesNotMatch(await swift('list'), /^swift-photos$/m);
});

test('swift: keeps versions and follows symlinks', { skip: skip.swift }, async (t) => {
  const cwd = workplace(t);
  const env = {
    ST_AUTH: `${account.endpoint}/auth/v1.0`,
    ST_USER: `${account.account}:${account.user}`,
    ST_KEY: account.password,
  };
  const swift = (...args: string[]) => printed('swift', args, { cwd, env });
  const fetched = async (...args: string[]) => {
    await swift('download', ...args, '-o', 'fetched');
    return readFileSync(join(cwd, 'fetched'), 'utf8');
  };
  await swift('post', 'swift-versions', '-H', 'X-Versions-Enabled: true');
  for (const text of ['first', 'second']) {
    writeFileSync(join(cwd, 'o'), text);
    await swift('upload', 'swift-versions', 'o');
  }
  const lines = (await swift('list', 'swift-versions', '--versions')).split('\n').filter((line) => / o\s*$/.test(line));
  assert.equal(lines.length, 2);
  const oldest = lines.at(-1)?.trim().split(/\s+/).at(-3) ?? '';
  assert.equal(await fetched('swift-versions', 'o', '--version-id', oldest), 'first');
  assert.equal(await fetched('swift-versions', 'o'), 'second');
  assert.match(await swift('stat', 'swift-versions'), /Objects: 1\b/);

  writeFileSync(join(cwd, 'nothing'), '');
  await swift('post', 'swift-links');
  const link = ['upload', 'swift-links', 'nothing', '--object-name'];
  await swift(...link, 'to-o', '-H', 'X-Symlink-Target: swift-versions/o');
  assert.equal(await fetched('swift-links', 'to-o'), 'second');
  const etag = /ETag: (\w+)/.exec(await swift('stat', 'swift-versions', 'o'))?.[1] ?? '';
  await swift(...link, 'fixed', '-H', 'X-Symlink-Target: swift-versions/o', '-H', `X-Symlink-Target-Etag: ${etag}`);
  assert.equal(await fetched('swift-links', 'fixed'), 'second');
  writeFileSync(join(cwd, 'o'), 'third');
  await swift('upload', 'swift-versions', 'o');
  assert.equal(await fetched('swift-links', 'to-o'), 'third');
  const changed = await ended('swift', ['download', 'swift-links', 'fixed', '-o', 'x'], { cwd, env });
  assert.match(changed.stderr + changed.stdout, /409 Conflict/);

  await swift('post', 'swift-stack-old');
  await swift('post', 'swift-stack', '-H', 'X-Versions-Location: swift-stack-old');
  for (const text of ['one', 'two']) {
    writeFileSync(join(cwd, 'o'), text);
    await swift('upload', 'swift-stack', 'o');
  }
  await swift('delete', 'swift-stack', 'o');
  assert.equal(await fetched('swift-stack', 'o'), 'one', 'a deletion brings back what was there before');
});

test('@aws-sdk/client-s3: puts, streams, lists, copies, signs and posts', { skip: skip.sdk }, async () => {
  const sdk = awsSdk();
  const options = (secretAccessKey: string) => ({
    endpoint: account.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: account.accessKey, secretAccessKey },
  });
  const client = sdk.client(options(account.secretKey));
  const Bucket = 'sdk-box';
  const call = (name: string, input: object) => client.send(sdk.command(name, { Bucket, ...input }));
  const bytesOf = async (Key: string) => {
    const { Body } = await call('GetObject', { Key });
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  };

  await call('CreateBucket', {});
  const body = readFileSync(small);
  const put = await call('PutObject', { Key: 'ключ/🔑 + %', Body: body, Metadata: { colour: 'blue' } });
  assert.ok(put.ChecksumCRC32, 'the checksum that the SDK sends by itself');
  assert.deepEqual(await bytesOf('ключ/🔑 + %'), body);
  assert.deepEqual((await call('HeadObject', { Key: 'ключ/🔑 + %' })).Metadata, { colour: 'blue' });
  const summed = await call('PutObject', { Key: 'summed', Body: body, ChecksumAlgorithm: 'SHA256' });
  assert.equal(summed.ChecksumSHA256, Buffer.from(hashOf(small), 'hex').toString('base64'));

  const params = { Bucket, Key: 'big', Body: readFileSync(big) };
  await sdk.upload({ client, params, partSize: 8 * MEGABYTE, queueSize: 4 }).done();
  assert.deepEqual(await bytesOf('big'), readFileSync(big));
  const copied = await call('CopyObject', { Key: 'copy', CopySource: `${Bucket}/summed` });
  assert.equal(copied.CopyObjectResult?.ETag, summed.ETag);

  const keysOf = ['big', 'copy', 'summed', 'ключ/🔑 + %'];
  const seen: string[] = [];
  for (let token: string | undefined; ;) {
    const page = await call('ListObjectsV2', { MaxKeys: 3, ContinuationToken: token });
    seen.push(...(page.Contents ?? []).map(({ Key }) => Key));
    token = page.NextContinuationToken;
    if (token === undefined) break;
  }
  assert.deepEqual(seen, keysOf);

  const address = await sdk.presign(client, sdk.command('PutObject', { Bucket, Key: 'signed' }));
  assert.equal((await fetch(address, { method: 'PUT', body: new Uint8Array(body) })).status, 200);
  assert.deepEqual(await bytesOf('signed'), body);
  const Conditions = [['content-length-range', 1, 2000]];
  const { url, fields } = await sdk.postForm(client, { Bucket, Key: 'posted', Conditions, Expires: 600 });
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(body)]));
  assert.equal((await fetch(url, { method: 'POST', body: form })).status, 204);
  assert.deepEqual(await bytesOf('posted'), body);

  const outsider = sdk.client(options('a wrong secret'));
  await assert.rejects(outsider.send(sdk.command('ListObjectsV2', { Bucket })), { name: 'SignatureDoesNotMatch' });
  await assert.rejects(call('GetObject', { Key: 'nowhere' }), { name: 'NoSuchKey' });
  const Objects = [...keysOf, 'signed', 'posted'].map((Key) => ({ Key }));
  assert.equal((await call('DeleteObjects', { Delete: { Objects } })).Deleted?.length, Objects.length);
  await call('DeleteBucket', {});
  for (const each of [client, outsider]) each.destroy();
});

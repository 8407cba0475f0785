import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { until } from '../../testing/waiting.ts';
import { expect } from '../../protocols/s3/testing/client.ts';
import { testObjects } from '../testing/test-objects.ts';

/**
 * Goal: what is written while encryption is on is on no drive in clear, and after a restart nothing is read or written
 * until the password is given.
 * Method: one array over real folders, taken through all that can be done with its password; every test goes on where
 * the one before ended.
 */
const { settings } = objectsApi.groups;
const objects = await testObjects({ after });
const { client } = objects;
const s3 = () => objects.s3(objects.owner);
const FIRST = 'open sesame';
const SECOND = 'close sesame';

/** Long enough that no chance makes it, small enough to be packed with others. */
const marked = (name: string) => `${name} is what nobody else may read; `.repeat(40);

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
}

/** On how many files of drives the text is. */
function found(text: string): number {
  const folders = objects.configuration.drives.map(({ file }) => file);
  return folders.flatMap(filesUnder).filter((file) => readFileSync(file).includes(text)).length;
}

async function put(name: string, body = marked(name)) {
  return s3().call('PUT', `/vault/${name}`, { body });
}

async function read(name: string) {
  return s3().call('GET', `/vault/${name}`);
}

test('without a password nothing is encrypted, and nothing can be switched on', async () => {
  expect(await s3().call('PUT', '/vault'), 200);
  expect(await put('plain'), 200);
  assert.equal(found(marked('plain')), 2, 'two copies in clear');
  for (const operation of [settings.activateEncryption, settings.disableEncryption]) {
    const { code, message } = await client.refused(operation, {});
    assert.equal(code, 50100);
    assert.match(message, /set one in the encryption settings/);
  }
  assert.equal((await client.refused(settings.restoreEncryption, { encryption_pwd: FIRST })).code, 50100);
});

test('what asks for encryption gets it without a password, and is read after a restart', async () => {
  const headers = { 'x-amz-server-side-encryption': 'AES256' };
  const put = await s3().call('PUT', '/vault/asked', { body: marked('asked'), headers });
  assert.equal(expect(put, 200).headers['x-amz-server-side-encryption'], 'AES256');
  expect(await s3().call('PUT', '/vault/large-asked', { body: marked('large-asked').repeat(1_000), headers }), 200);
  assert.deepEqual([found('asked is what nobody'), found('large-asked is what')], [0, 0]);
  await objects.restart();
  assert.equal((await read('asked')).text, marked('asked'));
  assert.equal((await read('large-asked')).text, marked('large-asked').repeat(1_000));
});

test('a password alone encrypts nothing yet; once it is activated, nothing new is on a drive in clear', async () => {
  await client.call(settings.setEncryptionPassword, { encryption_pwd: FIRST });
  expect(await put('still-plain'), 200);
  assert.equal(found(marked('still-plain')), 2);
  await client.call(settings.activateEncryption, {});
  expect(await put('secret'), 200);
  expect(await put('large-secret', marked('large-secret').repeat(1_000)), 200);
  assert.deepEqual([found('secret is what nobody'), found('large-secret is what')], [0, 0]);
  assert.equal((await read('secret')).text, marked('secret'));
  assert.equal((await read('large-secret')).text, marked('large-secret').repeat(1_000));
  assert.equal((await read('plain')).text, marked('plain'), 'what was there is read as before');
});

test('neither the password nor a key of objects is in a database in clear', () => {
  const databases = readdirSync(objects.configuration.folder).filter((name) => /\.db(-wal)?$/.test(name));
  for (const name of databases)
    assert.ok(!readFileSync(join(objects.configuration.folder, name)).includes(FIRST), name);
});

test('another password takes its place while the array is unlocked, and what was written stays readable', async () => {
  await client.call(settings.setEncryptionPassword, { encryption_pwd: SECOND });
  assert.equal((await read('secret')).text, marked('secret'));
});

test('after a restart encrypted objects cannot be read and nothing is written, until the password is given', async () => {
  await objects.restart();
  const locked = await read('secret');
  assert.ok(locked.status >= 400, locked.text);
  assert.ok(!locked.text.includes('nobody else'));
  assert.equal((await read('plain')).text, marked('plain'), 'what was never encrypted is not locked');
  const refused = await put('meanwhile');
  assert.ok(refused.status >= 400, refused.text);
  assert.equal(found('meanwhile is what'), 0, 'nothing is written in clear instead');
  assert.equal((await read('asked')).text, marked('asked'), 'no password locks what asked for encryption');
  for (const operation of [settings.activateEncryption, settings.disableEncryption])
    assert.equal((await client.refused(operation, {})).code, 50013);
  assert.equal((await client.refused(settings.setEncryptionPassword, { encryption_pwd: 'x' })).code, 50013);
});

test('a wrong password, and one that was replaced, are refused by name and open nothing', async () => {
  for (const encryption_pwd of ['wrong', FIRST]) {
    const { code, message } = await client.refused(settings.restoreEncryption, { encryption_pwd });
    assert.deepEqual([code, message], [7, 'encryption_pwd is not the encryption password.']);
  }
  assert.ok((await read('secret')).status >= 400);
});

test('the right password opens everything, and what is written is encrypted again', async () => {
  await client.call(settings.restoreEncryption, { encryption_pwd: SECOND });
  assert.equal((await read('secret')).text, marked('secret'));
  expect(await put('later-secret'), 200);
  assert.equal(found('later-secret is what'), 0);
});

test('once it is disabled, new objects are in clear and the old ones are read as before', async () => {
  await client.call(settings.disableEncryption, {});
  expect(await put('open'), 200);
  assert.equal(found(marked('open')), 2);
  assert.equal((await read('secret')).text, marked('secret'));
  assert.equal(found('later-secret is what'), 0);
});

test('an array that is locked down serves its objects, can be read, and takes no changes', async () => {
  await objects.change({ lockedDown: true });
  const refused = await client.refused(settings.activateEncryption, {});
  assert.match(refused.message, /is locked down: it serves its data/);
  assert.equal((await read('open')).text, marked('open'));
  expect(await put('while-locked'), 200);
  await objects.signInOwner();
  await objects.change({ lockedDown: false });
});

test('the cloud hears when encryption was switched on and off, and again after a restart', async () => {
  await client.call(settings.disableEncryption, {});
  const before = Date.now();
  await client.call(settings.activateEncryption, {});
  const after = Date.now();
  await client.call(settings.activateEncryption, {});
  const on = await until(() => objects.encryptionChanges.find(({ at }) => at >= before));
  assert.ok(on.active && on.at <= after, 'at the moment it was switched on, and once');
  const reported = objects.encryptionChanges;
  await objects.restart();
  assert.deepEqual(objects.encryptionChanges, reported);
});

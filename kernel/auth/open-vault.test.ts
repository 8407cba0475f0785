import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryStore } from '../testing/temporary-store.ts';
import type { Store } from '../store/index.ts';
import { openVault } from './open-vault.ts';
import { KeyError, Vault } from './vault.ts';

const OTHER_KEY = 'ab'.repeat(32);

function place(t: TestContext) {
  const store: Store = temporaryStore(t);
  const keyFile = join(dirname(store.file), 'master.key');
  const open = (sample?: string) => openVault({ store, keyFile, sealedSample: () => sample });
  return { store, keyFile, open };
}

function setMasterKey(t: TestContext, value: string): void {
  process.env['GRANARY_MASTER_KEY'] = value;
  t.after(() => delete process.env['GRANARY_MASTER_KEY']);
}

function namesFiles(error: unknown, ...names: string[]): true {
  assert.ok(error instanceof KeyError, String(error));
  for (const name of names) assert.ok(error.message.includes(name), `${error.message} names ${name}`);
  return true;
}

test('a new database gets a key, and the same key opens it again', async (t) => {
  const { open, keyFile } = place(t);
  const sealed = (await open()).seal('secret');
  assert.ok(existsSync(keyFile));
  assert.equal((await open()).unseal(sealed), 'secret');
});

test('a missing key is not made anew beside a database that needs it', async (t) => {
  const { open, keyFile, store } = place(t);
  await open();
  rmSync(keyFile);
  await assert.rejects(open(), (error) => namesFiles(error, keyFile, store.file, 'GRANARY_MASTER_KEY'));
  assert.ok(!existsSync(keyFile));
});

test('a wrong key is refused by its name', async (t) => {
  const { open, keyFile, store } = place(t);
  await open();
  writeFileSync(keyFile, OTHER_KEY);
  await assert.rejects(open(), (error) => namesFiles(error, keyFile, store.file));
  writeFileSync(keyFile, 'no key at all');
  await assert.rejects(open(), (error) => namesFiles(error, keyFile));
});

test('GRANARY_MASTER_KEY is held against the database like a file', async (t) => {
  const { open, store } = place(t);
  await open();
  setMasterKey(t, OTHER_KEY);
  await assert.rejects(open(), (error) => namesFiles(error, 'GRANARY_MASTER_KEY', store.file));
});

test('a database of an earlier release is held against something it sealed', async (t) => {
  const { open, keyFile } = place(t);
  const sealed = new Vault(Buffer.from(OTHER_KEY, 'hex')).seal('of before');
  await assert.rejects(open(sealed), (error) => namesFiles(error, keyFile, 'missing'));
  writeFileSync(keyFile, 'cd'.repeat(32));
  await assert.rejects(open(sealed), (error) => namesFiles(error, keyFile));
  writeFileSync(keyFile, OTHER_KEY);
  assert.equal((await open(sealed)).unseal(sealed), 'of before');
});

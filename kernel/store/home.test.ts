import assert from 'node:assert/strict';
import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { findHome, recordHome } from './home.ts';
import { Store } from './index.ts';

async function homeOf(folder: string, machine = 'machine-1', settle = false) {
  const store = new Store(join(folder, 'test.db'), { component: 'test', steps: [] });
  try {
    if (settle) await recordHome(store, machine);
    return await findHome(store, machine);
  } finally {
    store.close();
  }
}

test('a folder that was moved keeps its home; a copy of it is known as one until it is put in charge', async (t) => {
  const base = temporaryFolder(t);
  const [first, moved, copy] = ['first', 'moved', 'copy'].map((name) => join(base, name)) as [string, string, string];
  const { home } = await homeOf(first);
  assert.deepEqual((await homeOf(first)).copyOf, undefined);
  renameSync(first, moved);
  const after = await homeOf(moved);
  assert.deepEqual([after.home.id, after.copyOf], [home.id, undefined]);
  cpSync(moved, copy, { recursive: true });
  assert.equal((await homeOf(copy)).copyOf?.folder, moved);
  assert.equal((await homeOf(copy)).copyOf?.folder, moved, 'also at the second start');
  assert.equal((await homeOf(moved)).copyOf, undefined);
  const settled = await homeOf(copy, 'machine-1', true);
  assert.equal(settled.copyOf, undefined);
  assert.notEqual(settled.home.id, home.id);
});

test('on another machine a folder is a copy; a machine without an id is not distinguished', async (t) => {
  const folder = temporaryFolder(t);
  await homeOf(folder);
  assert.ok((await homeOf(folder, 'machine-2')).copyOf);
  assert.equal((await homeOf(folder, '')).copyOf, undefined);
});

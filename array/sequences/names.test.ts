import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Store } from '@granary/kernel';
import { temporaryFolder } from '../../testing/folders.ts';
import { migrations } from '../migrations.ts';
import { ReservedNames } from './names.ts';
import { nextName } from './repository.ts';

test('no name is used twice, across callers and restarts', async (t) => {
  const file = join(temporaryFolder(t), 'array.db');
  const seen: string[] = [];
  for (let start = 0; start < 3; start++) {
    const store = new Store(file, migrations);
    const names = new ReservedNames(store, 'volume');
    const taken = await Promise.all([
      ...Array.from({ length: 150 }, () => names.next()),
      store.write((tx) => nextName(tx, 'volume')),
    ]);
    seen.push(...taken);
    store.close();
  }
  assert.equal(new Set(seen).size, 3 * 151);
  assert.equal(seen[0], 'volume-00000001');
});

test('a name that cannot be taken is an error for those who wait, and the next try may do', async (t) => {
  const store = new Store(join(temporaryFolder(t), 'array.db'), migrations);
  t.after(() => store.close());
  let isBroken = true;
  const write: Store['write'] = (work) => (isBroken ? Promise.reject(new Error('no room')) : store.write(work));
  const names = new ReservedNames({ write } as Store, 'volume');
  await assert.rejects(names.next(), /no room/);
  isBroken = false;
  assert.equal(await names.next(), 'volume-00000001');
});

import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { Store, type Migrations } from '../store/index.ts';

const noMigrations: Migrations = { component: 'test', steps: [] };

export function temporaryStore(t: TestContext, sql = ''): Store {
  const migrations = sql === '' ? noMigrations : { component: 'test', steps: [{ name: '0001-test.sql', sql }] };
  const store = new Store(join(temporaryFolder(t), 'test.db'), migrations);
  t.after(() => {
    store.close();
  });
  return store;
}

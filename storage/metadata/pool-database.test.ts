import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { openPoolDatabase } from './pool-database.ts';

async function fileOf(t: TestContext): Promise<string> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'granary-database-'));
  t.after(() => fs.rm(folder, { recursive: true }));
  return path.join(folder, 'pool.db');
}

describe('the metadata of a pool', () => {
  it('is not created by opening it: a mistyped name is refused', async (t) => {
    const file = await fileOf(t);
    for (let turn = 0; turn < 2; turn++)
      assert.throws(() => openPoolDatabase(file), { code: 'not-found', message: `There is no file ${file}.` });
  });

  it('has one owner', async (t) => {
    const file = await fileOf(t);
    const database = openPoolDatabase(file, { create: true });
    assert.throws(() => openPoolDatabase(file), { code: 'conflict', message: /another process/ });
    database.close();
  });

  it('that is empty or no database is refused by its name, not taken for an empty pool', async (t) => {
    const file = await fileOf(t);
    await fs.writeFile(file, '');
    assert.throws(() => openPoolDatabase(file), { code: 'invalid', message: /damaged: it has 0 bytes/ });
    await fs.writeFile(file, 'garbage'.repeat(2000));
    assert.throws(() => openPoolDatabase(file), { code: 'invalid', message: /pool\.db is damaged/ });
  });

  it('of a newer release is refused, and that of the release before versions is opened', async (t) => {
    const file = await fileOf(t);
    openPoolDatabase(file, { create: true }).close();
    const change = (sql: string): void => {
      const sqlite = new DatabaseSync(file);
      sqlite.exec(sql);
      sqlite.close();
    };
    change('DROP TABLE schema_versions');
    openPoolDatabase(file).close();
    change(
      "CREATE TABLE schema_versions (component TEXT, version INTEGER); INSERT INTO schema_versions VALUES ('pool', 9)",
    );
    assert.throws(() => openPoolDatabase(file), {
      code: 'invalid',
      message: /version 9, newer than this release knows/,
    });
  });
});

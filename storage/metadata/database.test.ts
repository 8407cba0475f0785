import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { StorageError } from '../errors.ts';
import { Database } from './database.ts';

const SCHEMA = 'CREATE TABLE IF NOT EXISTS things (id INTEGER PRIMARY KEY)';

async function fileOf(t: TestContext): Promise<string> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'granary-database-'));
  t.after(() => fs.rm(folder, { recursive: true }));
  return path.join(folder, 'things.db');
}

describe('a database', () => {
  it('keeps nothing of a transaction that throws, and goes on', async (t) => {
    const database = new Database(await fileOf(t), SCHEMA, true);
    assert.throws(() => {
      database.transaction(() => {
        database.run('INSERT INTO things VALUES (1)');
        throw new Error('halfway');
      });
    }, /halfway/);
    database.transaction(() => database.run('INSERT INTO things VALUES (2)'));
    assert.deepEqual(
      database.all<{ id: number }>('SELECT id FROM things').map(({ id }) => id),
      [2],
    );
    database.close();
  });

  it('is durable once sync resolves, and reads the same when opened again', async (t) => {
    const file = await fileOf(t);
    const database = new Database(file, SCHEMA, true);
    database.transaction(() => database.run('INSERT INTO things VALUES (7)'));
    await database.sync();
    await database.sync();
    database.close();
    const again = new Database(file, SCHEMA);
    assert.equal(again.get<{ id: number }>('SELECT id FROM things')?.id, 7);
    again.close();
  });

  it('is not made by opening it: a mistyped name is refused', async (t) => {
    const file = await fileOf(t);
    for (let turn = 0; turn < 2; turn++) {
      assert.throws(
        () => new Database(file, SCHEMA),
        (error) => error instanceof StorageError && error.code === 'not-found' && error.message.includes(file),
      );
    }
  });

  it('refuses a second owner of the same file and says why', async (t) => {
    const file = await fileOf(t);
    const database = new Database(file, SCHEMA, true);
    assert.throws(
      () => new Database(file, SCHEMA),
      (error) => error instanceof StorageError && error.code === 'conflict' && /another process/.test(error.message),
    );
    database.close();
  });
});

describe('a file of a pool', () => {
  it('that is empty or no database is refused by its name, not taken for an empty pool', async (t) => {
    const file = await fileOf(t);
    await fs.writeFile(file, '');
    assert.throws(() => new Database(file, SCHEMA), { code: 'invalid', message: /damaged: it has 0 bytes/ });
    await fs.writeFile(file, 'garbage'.repeat(2000));
    assert.throws(() => new Database(file, SCHEMA), { code: 'invalid', message: /things\.db is damaged/ });
  });
});

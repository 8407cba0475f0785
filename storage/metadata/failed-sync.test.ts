import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Database } from './database.ts';

test('after a sync that failed the books refuse everything, because a later one would claim too much', async (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'granary-sync-'));
  const database = new Database(path.join(folder, 'books.db'), 'CREATE TABLE t (n INTEGER)', true);
  context.after(() => {
    database.close();
    fs.rmSync(folder, { recursive: true });
  });
  const broken = context.mock.method(fs, 'fdatasync', (_fd: number, done: (error: Error) => void) => {
    done(new Error('EIO'));
  });
  database.transaction(() => database.run('INSERT INTO t VALUES (1)'));
  await assert.rejects(database.sync(), /could not be made durable \(EIO\).*start again/);
  broken.mock.restore();
  await assert.rejects(database.sync(), /could not be made durable/);
  assert.throws(() => database.transaction(() => undefined), /could not be made durable/);
});

import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LineProcess } from '../../testing/line-process.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { DamagedDatabaseError, restoreCopy, Store } from './index.ts';

/** As the writer has them. */
const migrations = {
  component: 'pairs',
  steps: [{ name: '0001-pairs.sql', sql: 'CREATE TABLE left_half (n); CREATE TABLE right_half (n);' }],
};
const writer = new URL('testing/writer.ts', import.meta.url);
const restorer = new URL('testing/restorer.ts', import.meta.url);
const STEPS_MAX = 40;

function count(file: string): number {
  const store = new Store(file, migrations, 100);
  try {
    return store.read((db) => db.get<{ n: number }>('SELECT count(*) AS n FROM left_half'))?.n ?? 0;
  } finally {
    store.close();
  }
}

/** What a start finds: how many rows, or that the file is missing and how to get it back. */
function found(file: string): number | 'missing' {
  try {
    return count(file);
  } catch (error) {
    assert.ok(error instanceof DamagedDatabaseError, String(error));
    assert.match(error.message, /the file is missing.*granary restore-books/s);
    return 'missing';
  }
}

async function restoredUntil(step: number, file: string, copy: string): Promise<boolean> {
  const child = new LineProcess(restorer, file, copy, String(step));
  await child.ended();
  return child.lines.includes('done');
}

/**
 * Goal: a restore that is killed leaves the old database whole, or the restored one whole, or none, and can be done
 * again. Method: kill -9 before each step that changes files; what was acknowledged last is in the old one's log alone.
 */
test('a restore that is killed at any step leaves no half of a database', { timeout: 300_000 }, async (t) => {
  const folder = temporaryFolder(t);
  const before = join(folder, 'before');
  const owner = new LineProcess(writer, join(before, 'test.db'));
  await until(() => owner.lines.length > 20, undefined, 60_000);
  await owner.kill();
  const copy = join(folder, 'copy');
  const copied = new Store(copy, migrations, 100);
  await copied.write((tx) => tx.run('INSERT INTO left_half VALUES (1)'));
  copied.close();
  cpSync(before, join(folder, 'looked-at'), { recursive: true });
  const acknowledged = count(join(folder, 'looked-at', 'test.db'));
  assert.ok(acknowledged > 1, `${acknowledged} rows`);

  const seen = new Set<number | 'missing'>();
  for (let step = 0, isDone = false; !isDone; step += 1) {
    assert.ok(step < STEPS_MAX);
    const here = join(folder, 'here');
    const file = join(here, 'test.db');
    cpSync(before, here, { recursive: true });
    isDone = await restoredUntil(step, file, copy);
    const rows = found(file);
    seen.add(rows);
    assert.ok(rows === 'missing' || rows === 1 || rows === acknowledged, `${rows} rows after ${step} steps`);
    if (isDone) assert.equal(rows, 1);
    restoreCopy(file, copy);
    assert.equal(count(file), 1, 'done again');
    const asides = readdirSync(here).filter((name) => /damaged-[^-]*$/.test(name));
    assert.ok(asides.length > 0 && existsSync(copy), 'what was there is kept');
    rmSync(here, { recursive: true });
  }
  assert.deepEqual(seen, new Set([acknowledged, 'missing', 1]));
});

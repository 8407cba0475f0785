import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../testing/folders.ts';
import { ManualClock } from './clock.ts';
import { CapacityHistory } from './forecast/index.ts';
import { Database, readMigrations } from './sqlite/index.ts';
import { Store } from './store/index.ts';

const kernel = readMigrations('kernel', new URL('./migrations/', import.meta.url));
const own = { component: 'own', steps: [{ name: '0001-own.sql', sql: 'CREATE TABLE own_things (name TEXT)' }] };
const GB = 2 ** 30;
const DAY_MS = 86_400_000;

/** A file as a release wrote it that knew the first of the kernel's migrations only. */
function writeOlder(file: string, steps: number): void {
  const database = new Database(file, {
    access: 'exclusive',
    migrations: [{ ...kernel, steps: kernel.steps.slice(0, steps) }, own],
  });
  database.transaction((tx) => {
    tx.run(
      `INSERT INTO events (created_at, severity, title, subject, actor)
       VALUES (1, 6, 'Pool gold was created.', 'pool:pool-00000001', 'admin')`,
    );
    tx.run(`INSERT INTO settings (key, value) VALUES ('language', 'plain')`);
    tx.run(`INSERT INTO own_things (name) VALUES ('kept')`);
  });
  database.close();
}

function schemaOf(store: Store): unknown {
  const rows = store.read((db) => db.all<object>('SELECT name, sql FROM sqlite_schema ORDER BY name'));
  return rows.map((row) => ({ ...row }));
}

test('a file of any earlier version of the kernel opens with what it held, and keeps capacity from then on', async (t) => {
  const folder = temporaryFolder(t);
  const fresh = new Store(join(folder, 'new.db'), own);
  const schema = schemaOf(fresh);
  fresh.close();
  for (let steps = 1; steps < kernel.steps.length; steps += 1) {
    const file = join(folder, `${steps}.db`);
    writeOlder(file, steps);
    const store = new Store(file, own);
    assert.deepEqual(schemaOf(store), schema, `after ${kernel.steps[steps - 1]?.name}`);
    const count = (from: string) => store.read((db) => db.get<{ n: number }>(`SELECT count(*) AS n FROM ${from}`))?.n;
    assert.equal(count('own_things'), 1);
    assert.equal(count(`settings WHERE key = 'language'`), 1);
    assert.equal(count(`events WHERE subject = 'pool:pool-00000001'`), 1);
    if (steps === 1) assert.equal(count(`events WHERE kind = 'pool'`), 1, 'an event from before kinds has its kind');
    assert.equal(await daysLeft(store), 90, `after ${kernel.steps[steps - 1]?.name}`);
    store.close();
  }
});

/** Of a thing that has taken 1 GB a day for ten days, of 100. */
async function daysLeft(store: Store): Promise<number | undefined> {
  const clock = new ManualClock(2_000 * DAY_MS);
  const history = new CapacityHistory({ store, clock });
  const thing = (days: number) => ({ id: 'pool-00000001', usedBytes: days * GB, capacityBytes: 100 * GB });
  for (let day = 0; day <= 10; day += 1) {
    await history.record('pool', [thing(day)], new Set(['pool-00000001']));
    if (day < 10) clock.advance(DAY_MS);
  }
  const [forecast] = await history.forecasts('pool', [thing(10)]);
  return forecast?.days && Math.round(forecast.days.likely);
}

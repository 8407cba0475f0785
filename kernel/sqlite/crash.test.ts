import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { LineProcess } from '../../testing/line-process.ts';
import { seededRandom } from '../../testing/random.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { Database, GroupCommit } from './index.ts';

const IS_TORTURE = process.env['GRANARY_TORTURE'] === '1';
const KILLS = IS_TORTURE ? 100 : 8;
const POWER_CUTS = IS_TORTURE ? 1000 : 40;
const SECTOR_BYTES = 512;
const HEADER_BYTES = 32;
const writer = new URL('testing/writer.ts', import.meta.url);
const pairs = {
  component: 'pairs',
  steps: [{ name: '0001-pairs', sql: 'CREATE TABLE left_half (n); CREATE TABLE right_half (n);' }],
};

/** All that was acknowledged is in the file, and nothing is there by half. */
function verify(file: string, acknowledged: ReadonlySet<number>): void {
  const database = new Database(file, { access: 'exclusive', migrations: [pairs], isChecked: true });
  const half = (table: string) => database.all<{ n: number }>(`SELECT n FROM ${table}`).map(({ n }) => n);
  const [left, right] = [half('left_half'), half('right_half')];
  database.close();
  assert.deepEqual(left, right);
  const kept = new Set(left);
  assert.equal(kept.size, left.length);
  assert.deepEqual(
    [...acknowledged].filter((n) => !kept.has(n)),
    [],
  );
}

test('every acknowledged change is there after kill -9, and none is there by half', async (t) => {
  const random = seededRandom(t);
  const file = join(temporaryFolder(t), 'killed.db');
  const acknowledged = new Set<number>();
  for (let round = 0; round < KILLS; round++) {
    const process = new LineProcess(writer, file, String(round * 1_000_000));
    await until(() => process.lines.includes('open'));
    const wanted = 1 + Math.floor(random() * 200);
    await until(() => process.lines.length > wanted);
    await process.kill();
    for (const line of process.lines.slice(1)) acknowledged.add(Number(line));
    verify(file, acknowledged);
  }
});

/**
 * A disk that loses power: of each sector written since the last sync it keeps the old content or the new one. What
 * SQLite syncs by itself (the header of a log that starts over, everything at a checkpoint) is there.
 */
class PowerCut {
  readonly #file: string;
  #synced: Buffer;

  constructor(file: string) {
    this.#file = file;
    this.#synced = this.#log;
  }

  get #log(): Buffer {
    return fs.readFileSync(`${this.#file}-wal`);
  }

  /** At the call: what is written while the sync runs may be lost. */
  beforeSync(): () => void {
    const log = this.#log;
    return () => (this.#synced = log);
  }

  checkpointed(): void {
    this.#synced = this.#log;
  }

  leave(target: string, random: () => number): void {
    const [now, before] = [this.#log, this.#synced];
    const left = Buffer.concat([before, Buffer.alloc(Math.max(0, now.length - before.length))]).subarray(0, now.length);
    now.copy(left, 0, 0, HEADER_BYTES);
    for (let at = 0; at < now.length; at += SECTOR_BYTES)
      if (random() < 0.5) now.copy(left, Math.max(at, HEADER_BYTES), Math.max(at, HEADER_BYTES), at + SECTOR_BYTES);
    fs.copyFileSync(this.#file, target);
    fs.writeFileSync(`${target}-wal`, left);
  }
}

async function cutPower(t: TestContext, folder: string, random: () => number): Promise<number> {
  const [file, target] = [join(folder, 'cut.db'), join(folder, 'left.db')];
  const database = new Database(file, { access: 'exclusive', migrations: [pairs], checkpointPages: 0 });
  const disk = new PowerCut(file);
  let syncs = 0;
  const lastSync = 1 + Math.floor(random() * 30);
  const cut = Promise.withResolvers<undefined>();
  const sync = t.mock.method(fs, 'fdatasync', (_fd: number, done: (error: null) => void) => {
    const completed = disk.beforeSync();
    setImmediate(() => {
      if ((syncs += 1) > lastSync) {
        cut.resolve(undefined);
        return;
      }
      completed();
      done(null);
    });
  });
  const answered = async (): Promise<void> => {
    if (random() > 0.2) return;
    database.tryCheckpoint();
    disk.checkpointed();
  };
  const commits = new GroupCommit(database, { answered });
  const acknowledged = new Set<number>();
  let next = 0;
  const work = async (): Promise<never> => {
    for (;;) {
      const n = next++;
      await commits.submit((tx) => {
        tx.run('INSERT INTO left_half VALUES (?)', n);
        if (random() < 0.1) tx.run('UPDATE left_half SET n = n');
        tx.run('INSERT INTO right_half VALUES (?)', n);
      });
      acknowledged.add(n);
    }
  };
  for (let writers = 1 + Math.floor(random() * 8); writers > 0; writers--) void work();
  await cut.promise;
  disk.leave(target, random);
  sync.mock.restore();
  verify(target, acknowledged);
  database.close();
  for (const name of fs.readdirSync(folder)) fs.rmSync(join(folder, name));
  return acknowledged.size;
}

test('every acknowledged change is there after a power cut, and none is there by half', async (t) => {
  const random = seededRandom(t);
  const folder = temporaryFolder(t);
  let acknowledged = 0;
  for (let cut = 0; cut < POWER_CUTS; cut++) acknowledged += await cutPower(t, folder, random);
  assert.ok(acknowledged > POWER_CUTS);
});

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Database } from '@granary/kernel/sqlite';
import { ticks } from '../pool/testing/pool-rig.ts';
import { Layers } from '../volume/layers.ts';
import { PoolCommits } from './pool-commits.ts';
import { openPoolDatabase } from './pool-database.ts';

class Scene {
  readonly database: Database;
  readonly commits: PoolCommits;
  readonly released: number[] = [];
  flushing = 0;
  flushingMax = 0;
  flushes = 0;
  failing = false;

  constructor(file: string) {
    this.database = openPoolDatabase(file, { create: true });
    this.commits = new PoolCommits(
      this.database,
      () => this.#flush(),
      (extents) => void this.released.push(...extents),
    );
  }

  async #flush(): Promise<void> {
    this.flushes++;
    this.flushing++;
    this.flushingMax = Math.max(this.flushingMax, this.flushing);
    await setImmediate();
    this.flushing--;
    if (this.failing) throw new Error('the drive does not flush');
  }

  count(table: string): number {
    return this.database.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`)?.count ?? 0;
  }
}

async function sceneOf(t: TestContext): Promise<{ scene: Scene; file: string }> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'granary-commits-'));
  const file = path.join(folder, 'pool.db');
  const scene = new Scene(file);
  t.after(async () => {
    scene.database.close();
    await fs.rm(folder, { recursive: true });
  });
  return { scene, file };
}

function addContainer(commits: PoolCommits, id: number): void {
  commits.enqueue((tx) => tx.run('INSERT INTO containers (id, extent) VALUES (?, ?)', id, id));
}

describe('commits', () => {
  it('frees an extent only once the transaction that gave it up is on disk', async (t) => {
    const { scene } = await sceneOf(t);
    scene.commits.retire(5);
    assert.equal(scene.commits.hasRetired, true);
    const committing = scene.commits.commit();
    assert.deepEqual(scene.released, []);
    await committing;
    assert.deepEqual(scene.released, [5]);
    assert.equal(scene.commits.hasRetired, false);
  });

  it('shares one commit among all who ask in the same breath, and the next among all who wait', async (t) => {
    const { scene } = await sceneOf(t);
    let last = 0;
    const ask = () => {
      addContainer(scene.commits, ++last);
      return scene.commits.commit();
    };
    const first = Array.from({ length: 20 }, ask);
    await ticks(4);
    const second = Array.from({ length: 20 }, ask);
    await Promise.all(first);
    assert.equal(scene.count('containers'), 20);
    await Promise.all(second);
    assert.deepEqual([scene.count('containers'), scene.flushes], [40, 2]);
  });

  it('never writes two at once, at whatever moment they are asked for', async (t) => {
    const { scene } = await sceneOf(t);
    for (let count = 0; count < 12; count++) {
      const first = scene.commits.commit();
      // Later by a little, so that callers of the first resume just before the second starts.
      await ticks(4);
      const second = scene.commits.commit();
      const third = first.then(async () => {
        await ticks(count);
        await scene.commits.commit();
      });
      await Promise.all([first, second, third]);
    }
    assert.equal(scene.flushingMax, 1);
  });

  it('writes again what a failed commit could not, and frees nothing before', async (t) => {
    const { scene } = await sceneOf(t);
    const layers = new Layers(scene.database, scene.commits);
    const layer = layers.create('plain', undefined);
    const page = layer.map.makePage(3);
    layer.map.set(page, 3, 9);
    scene.commits.pageChanged(layer.id, page);
    scene.commits.retire(5);
    scene.failing = true;
    await assert.rejects(scene.commits.commit(), /does not flush/);
    assert.equal(scene.count('layers') + scene.count('maps') + scene.released.length, 0);
    scene.failing = false;
    await scene.commits.commit();
    assert.deepEqual([scene.count('layers'), scene.count('maps'), scene.released], [1, 1, [5]]);
  });

  it('brings maps back as they were when the file is opened again', async (t) => {
    const { scene, file } = await sceneOf(t);
    const { database, commits } = scene;
    const layer = new Layers(database, commits).create('plain', undefined);
    const [whole, partial] = [layer.map.makePage(0), layer.map.makePage(1000)];
    layer.map.set(whole, 0, 11);
    layer.map.set(whole, 255, 12);
    layer.map.set(partial, 1000 & 255, 0x8000000d, 0x0000000f, 0x80000000);
    for (const page of [whole, partial]) commits.pageChanged(layer.id, page);
    await commits.commit();
    database.close();
    const again = new Scene(file);
    const { map } = new Layers(again.database, again.commits).get(layer.id);
    assert.deepEqual([map.get(0), map.get(255), map.get(1000), map.get(1)], [11, 12, 0x8000000d, 0]);
    assert.equal(map.owned, 3);
    const [wholeAgain, partialAgain] = [map.pageOf(0), map.pageOf(1000)];
    assert.equal(wholeAgain?.low, undefined);
    assert.deepEqual([partialAgain?.lowBits(1000 & 255), partialAgain?.highBits(1000 & 255)], [0xf, 0x80000000]);
    assert.equal(partialAgain?.used, 1);
    again.database.close();
    Object.assign(scene, { database: openPoolDatabase(file, { create: true }) });
  });
});

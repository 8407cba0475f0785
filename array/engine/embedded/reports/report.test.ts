import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineRig, MIB } from '../testing/rig.ts';

const VOLUMES = 10_000;
const COST_MS_MAX = 5;

test('a report tells of volumes only those that changed, and costs next to nothing when none did', async (t) => {
  const rig = await engineRig(t, { count: 2 });
  await rig.pool('p', 0, 1);
  const ids = Array.from({ length: VOLUMES }, (_, index) => `v${index}`);
  const snapshots = ids.map((volume) => ({ volume, snapshot: `s-${volume}` }));
  await Promise.all(ids.map((id) => rig.volume(id, 'p', MIB)));
  await rig.engine.takeSnapshots(snapshots, 1000);
  await rig.reopen();
  const first = await rig.report();
  assert.equal(first.volumes.length, VOLUMES);
  let { version } = first;
  const costs: number[] = [];
  for (let round = 0; round < 20; round++) {
    const startedMs = performance.now();
    const report = await rig.report(version);
    costs.push(performance.now() - startedMs);
    assert.deepEqual(report.volumes, []);
    ({ version } = report);
  }
  const typicalMs = costs.toSorted((a, b) => a - b)[10] ?? Infinity;
  t.diagnostic(`${typicalMs.toFixed(2)} ms a report`);
  assert.ok(typicalMs < COST_MS_MAX, `${typicalMs} ms`);
  await rig.write('v7', 0, 'x');
  await rig.read('v8', 0);
  await rig.engine.expandVolume('v9', 2 * MIB);
  await rig.engine.takeSnapshots([{ volume: 'v10', snapshot: 'another' }], 2000);
  const changed = await rig.report(version);
  assert.deepEqual(
    changed.volumes.map(({ id }) => id),
    ['v7', 'v8', 'v9', 'v10'],
  );
  assert.deepEqual((await rig.report(version)).volumes, changed.volumes, 'a caller that missed a report gets it again');
  assert.deepEqual((await rig.report(changed.version)).volumes, []);
});

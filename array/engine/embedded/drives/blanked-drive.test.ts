import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import { test } from 'node:test';
import { checkEngine } from '../check-engine.ts';
import { BLOCK, engineRig, type EngineRig, FAST, MIB } from '../testing/rig.ts';

const WRITTEN_BYTES = 12 * MIB;

/** Four or six drives as one RAID6, with a volume that holds known bytes. */
async function prepare(rig: EngineRig, isReduced: boolean): Promise<void> {
  const drives = rig.drives.map(({ id }) => id);
  const group = { id: 'g', protection: 'RAID6', drives, spares: [], stripeBytes: 65536, speed: FAST } as const;
  const { capacityBytes } = await rig.engine.createGroup(group);
  await rig.engine.createPool({ id: 'p', mode: 'simple', groups: ['g'], capacityBytes });
  await rig.engine.createVolume({
    id: 'v',
    pool: 'p',
    sizeBytes: 32 * MIB,
    compression: isReduced,
    deduplication: isReduced,
  });
  for (let offset = 0; offset < WRITTEN_BYTES; offset += MIB) await rig.write('v', offset, 'a', MIB);
  await rig.engine.device('v')?.flush();
}

/** All zeros, as a drive that was replaced by an empty one. */
function blank(rig: EngineRig, number: number): void {
  const { file, sizeBytes } = rig.drives[number]!;
  truncateSync(file, 0);
  truncateSync(file, sizeBytes);
}

async function isRight(rig: EngineRig): Promise<void> {
  for (let offset = 0; offset < WRITTEN_BYTES; offset += MIB) {
    assert.equal(await rig.read('v', offset, MIB / BLOCK), 'a'.repeat(MIB / BLOCK), `at ${offset}`);
  }
  assert.equal(await rig.read('v', WRITTEN_BYTES, 10), '.'.repeat(10));
}

async function isSound(rig: EngineRig): Promise<void> {
  await rig.groupIs('g', 'normal');
  await isRight(rig);
  await rig.engine.close();
  assert.deepEqual((await checkEngine(rig.folder, rig.drives)).findings, []);
  await rig.start();
  await isRight(rig);
  assert.equal((await rig.group('g')).state, 'normal');
}

for (const count of [4, 6]) {
  for (const isReduced of [false, true]) {
    const what = `a RAID6 of ${count} with a ${isReduced ? 'reduced' : 'plain'} volume`;

    test(`${what}, a drive blanked while it runs and then scrubbed, reads right after a restart`, async (t) => {
      const rig = await engineRig(t, { count, driveMb: 24 });
      await prepare(rig, isReduced);
      blank(rig, 1);
      await isRight(rig);
      const { mismatches, repaired, lost } = await rig.engine.scrubGroup('g', 0, {});
      assert.deepEqual([mismatches - repaired, lost], [0, 0]);
      await isSound(rig);
      assert.ok(rig.events.some((event) => event.type === 'drive-failed' && /no superblock/.test(event.reason)));
      assert.ok(rig.events.some((event) => event.type === 'rebuild-finished' && event.drive === rig.drive(1)));
    });

    test(`${what}, a drive blanked while it is stopped, is rebuilt in place and reads right meanwhile`, async (t) => {
      const rig = await engineRig(t, { count, driveMb: 24 });
      await prepare(rig, isReduced);
      await rig.engine.close();
      blank(rig, 2);
      assert.deepEqual((await checkEngine(rig.folder, rig.drives)).findings, ['RAID group g is degraded.']);
      await rig.start();
      await isRight(rig);
      await rig.groupIs('g', 'normal');
      assert.deepEqual(await rig.engine.scrubGroup('g', 0, {}), { mismatches: 0, repaired: 0, lost: 0 });
      await isSound(rig);
    });
  }
}

test('a drive blanked while it runs is not noticed before the restart, and nothing is lost', async (t) => {
  const rig = await engineRig(t, { count: 4, driveMb: 24 });
  await prepare(rig, false);
  blank(rig, 0);
  await rig.reopen();
  await isRight(rig);
  const { lost } = await rig.engine.scrubGroup('g', 0, {});
  assert.equal(lost, 0);
  await isSound(rig);
});

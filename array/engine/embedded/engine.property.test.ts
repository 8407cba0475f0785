import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../testing/random.ts';
import { checkEngine } from './check-engine.ts';
import { EngineModel } from './testing/model.ts';
import { type EngineRig, engineRig, FAST, MIB } from './testing/rig.ts';

const STEPS = Number(process.env['GRANARY_TEST_STEPS'] ?? 160);

/** Something that happens to drives, and is over when it returns. */
async function disturb(rig: EngineRig, random: () => number): Promise<string> {
  const number = Math.floor(random() * 6);
  const drive = rig.drive(number);
  if (random() < 0.5) {
    await rig.engine.takeDriveOffline(drive);
    return `offline ${number}`;
  }
  for (const { id } of rig.drives) await rig.engine.bringDriveOnline(id);
  for (const id of ['one', 'two']) await rig.groupIs(id, 'normal');
  return 'all online';
}

async function make(rig: EngineRig): Promise<void> {
  await rig.mirror('one', 0, 1);
  await rig.engine.createGroup({
    id: 'two',
    protection: 'RAID6',
    drives: [2, 3, 4, 5].map((number) => rig.drive(number)),
    spares: [],
    stripeBytes: 16 * 1024,
    speed: FAST,
  });
  await rig.mirror('three', 6, 7);
  await rig.engine.createPool({ id: 'p', mode: 'stripe', groups: ['one'], capacityBytes: 50 * MIB });
  await rig.engine.createPool({ id: 'q', mode: 'simple', groups: ['two'], capacityBytes: 60 * MIB });
}

test('whatever is done in whichever order, and however often it is opened again, nothing gets lost', async (t) => {
  const random = seededRandom(t);
  const rig = await engineRig(t, { count: 8 });
  await make(rig);
  const model = new EngineModel(rig, ['p', 'q'], random);
  const story: string[] = [];
  let isExpanded = false;
  try {
    for (let step = 0; step < STEPS; step++) {
      const dice = random();
      if (dice < 0.06) {
        for (const { id } of rig.drives) await rig.engine.bringDriveOnline(id);
        story.push('reopen');
        await rig.reopen();
        await model.verify();
      } else if (dice < 0.12) {
        story.push(await disturb(rig, random));
        const failed = (await rig.report()).groups.filter(({ state }) => state === 'failed');
        if (failed.length > 0) {
          for (const { id } of rig.drives) await rig.engine.bringDriveOnline(id);
          story.push('too many were offline');
        }
      } else if (dice < 0.15) {
        story.push(isExpanded ? 'shrink' : 'expand');
        if (isExpanded) await rig.engine.shrinkPool('p', 'three', 50 * MIB, {});
        else await rig.engine.expandPool('p', ['three'], 80 * MIB);
        isExpanded = !isExpanded;
      } else story.push(await model.step());
    }
    await model.verify();
    for (const { id } of rig.drives) await rig.engine.bringDriveOnline(id);
    for (const id of ['one', 'two']) await rig.groupIs(id, 'normal');
    await rig.engine.close();
    assert.deepEqual((await checkEngine(rig.folder, rig.drives)).findings, []);
    await rig.start();
    await model.verify();
  } catch (error) {
    t.diagnostic(story.slice(-60).join('\n'));
    throw error;
  }
});

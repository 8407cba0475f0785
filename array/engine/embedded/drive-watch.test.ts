import assert from 'node:assert/strict';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { describe, it } from 'node:test';
import { BLOCK, engineRig, type EngineRig, MIB } from './testing/rig.ts';

const BLOCKS = 64;

function fileOf(rig: EngineRig, number: number): string {
  const setup = rig.drives[number];
  assert.ok(setup);
  return setup.file;
}

/** A mirror of drives 0 and 1 with a volume full of letters. */
async function served(t: Parameters<typeof engineRig>[0]): Promise<EngineRig> {
  const rig = await engineRig(t);
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'a', BLOCKS * BLOCK);
  await rig.engine.flushVolume('v');
  await rig.engine.inspectDrives();
  assert.equal(await rig.driveState(0), 'online');
  return rig;
}

function lossOf(rig: EngineRig): string | undefined {
  const event = rig.events.find(({ type }) => type === 'drive-failed');
  return event?.type === 'drive-failed' && event.drive === rig.drive(0) ? event.reason : undefined;
}

const damages: Record<string, { readonly damage: (file: string, other: string) => void; readonly reported: RegExp }> = {
  'moved away': { damage: (file) => renameSync(file, `${file}.moved`), reported: /was moved or deleted; put it back/ },
  deleted: { damage: (file) => rmSync(file), reported: /was moved or deleted/ },
  'replaced by a copy of itself': {
    damage: (file) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
    reported: /something else is at .*; put back what was there/,
  },
  'replaced by a folder': {
    damage: (file) => {
      rmSync(file);
      mkdirSync(file);
    },
    reported: /something else is at/,
  },
  'cut short': {
    damage: (file) => truncateSync(file, MIB),
    reported: /was cut from \d+ to 1048576 bytes; replace the drive/,
  },
  blanked: {
    damage: (file) => {
      const { size } = statSync(file);
      truncateSync(file, 0);
      truncateSync(file, size);
    },
    reported: /its superblock is gone/,
  },
  'filled with what the other drive holds': {
    damage: (file, other) => {
      const bytes = readFileSync(other);
      const handle = openSync(file, 'r+');
      writeSync(handle, bytes);
      closeSync(handle);
    },
    reported: /it holds what belongs to another drive/,
  },
};

describe('a drive in use whose file is', { timeout: 120_000 }, () => {
  for (const [name, { damage, reported }] of Object.entries(damages)) {
    it(`${name} fails within two polls, is reported, and affects nothing else, also after a restart`, async (t) => {
      const rig = await served(t);
      damage(fileOf(rig, 0), fileOf(rig, 1));
      await rig.engine.inspectDrives();
      await rig.engine.inspectDrives();
      assert.equal(await rig.driveState(0), 'failed');
      assert.equal((await rig.group('group-of-p')).state, 'degraded');
      assert.match(lossOf(rig) ?? '', reported);
      await rig.write('v', 0, 'b', BLOCK);
      await rig.engine.flushVolume('v');
      assert.equal(await rig.read('v', 0, BLOCKS), `b${'a'.repeat(BLOCKS - 1)}`);
      await rig.reopen();
      assert.equal(await rig.read('v', 0, BLOCKS), `b${'a'.repeat(BLOCKS - 1)}`);
    });
  }

  it('put back comes into its group again by itself, with what it missed', async (t) => {
    const rig = await served(t);
    rig.hide(0);
    await rig.engine.inspectDrives();
    assert.equal(await rig.driveState(0), 'failed');
    await rig.write('v', 0, 'b', BLOCK);
    rig.show(0);
    await rig.engine.bringDriveOnline(rig.drive(0));
    await rig.groupIs('group-of-p', 'normal');
    await rig.engine.takeDriveOffline(rig.drive(1));
    assert.equal(await rig.read('v', 0, BLOCKS), `b${'a'.repeat(BLOCKS - 1)}`);
  });

  it('replaced is not brought back: a copy may lack what was written since', async (t) => {
    const rig = await served(t);
    const file = fileOf(rig, 0);
    copyFileSync(file, `${file}.copy`);
    await rig.write('v', 0, 'b', BLOCK);
    await rig.engine.flushVolume('v');
    renameSync(`${file}.copy`, file);
    await rig.engine.inspectDrives();
    await assert.rejects(rig.engine.bringDriveOnline(rig.drive(0)), { code: 'conflict' });
    assert.equal(await rig.read('v', 0, 2), 'ba');
  });

  it('blanked, or replaced by a blank one, is filled again once it is put into service', async (t) => {
    for (const isReplaced of [false, true]) {
      const rig = await served(t);
      const file = fileOf(rig, 0);
      const { size } = statSync(file);
      if (isReplaced) rmSync(file);
      writeFileSync(file, '');
      truncateSync(file, size);
      await rig.engine.inspectDrives();
      await rig.engine.inspectDrives();
      assert.equal(await rig.driveState(0), 'failed');
      await rig.engine.bringDriveOnline(rig.drive(0));
      await rig.groupIs('group-of-p', 'normal');
      await rig.engine.takeDriveOffline(rig.drive(1));
      assert.equal(await rig.read('v', 0, BLOCKS), 'a'.repeat(BLOCKS));
    }
  });

  it('moved, free or a spare, is failed and reported as well', async (t) => {
    const rig = await engineRig(t);
    await rig.mirror('g', 0, 1, [2]);
    rmSync(fileOf(rig, 2));
    rmSync(fileOf(rig, 3));
    await rig.engine.inspectDrives();
    assert.deepEqual([await rig.driveState(2), await rig.driveState(3)], ['failed', 'failed']);
    const reported = rig.events.flatMap((event) => (event.type === 'drive-failed' ? [[event.drive, event.group]] : []));
    assert.deepEqual(reported, [
      [rig.drive(2), 'g'],
      [rig.drive(3), null],
    ]);
    writeFileSync(fileOf(rig, 3), '');
    await rig.engine.bringDriveOnline(rig.drive(3));
    assert.equal(await rig.driveState(3), 'online');
  });

  it('well is left alone, however often it is looked at while it is written', async (t) => {
    const rig = await served(t);
    for (let turn = 0; turn < 30; turn += 1) {
      await Promise.all([
        rig.write('v', turn * BLOCK, 'c', BLOCK),
        rig.engine.flushVolume('v'),
        rig.engine.inspectDrives(),
        rig.engine.inspectDrives(),
      ]);
      if (turn % 10 === 0) {
        await rig.engine.takeDriveOffline(rig.drive(1));
        await rig.engine.inspectDrives();
        await rig.engine.bringDriveOnline(rig.drive(1));
      }
    }
    await rig.groupIs('group-of-p', 'normal');
    assert.equal(await rig.driveState(0), 'online');
  });
});

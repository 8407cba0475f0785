import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { obey } from './console.ts';
import { ScratchVolume, type ScratchVolumeOptions } from './scratch-volume.ts';

const MIB = 1024 * 1024;
const BYTES = Buffer.alloc(8192, 'kept');

let folder: string;
let scratch: ScratchVolume | undefined;

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'granary-scratch-volume-'));
});

afterEach(async () => {
  await scratch?.close();
  scratch = undefined;
  fs.rmSync(folder, { recursive: true });
});

async function open(options: Partial<ScratchVolumeOptions> = {}): Promise<ScratchVolume> {
  scratch = await ScratchVolume.open({
    folder,
    sizeBytes: 64 * MIB,
    level: undefined,
    drives: undefined,
    compression: false,
    deduplication: false,
    cacheBytes: 0,
    onEvent: () => undefined,
    ...options,
  });
  return scratch;
}

/** Closes it and leaves a folder with something stored in it. */
async function leaveVolume(options: Partial<ScratchVolumeOptions> = {}): Promise<void> {
  const { volume } = await open(options);
  await volume.write(0, BYTES);
  await volume.flush();
  await scratch?.close();
}

async function stored({ volume }: ScratchVolume): Promise<Buffer> {
  const back = Buffer.alloc(BYTES.length);
  await volume.read(0, back);
  return back;
}

function file(name: string): string {
  return path.join(folder, name);
}

test('drives without their pool.db are refused, and stay as they are', async () => {
  await leaveVolume();
  fs.renameSync(file('pool.db'), file('away'));
  const before = fs.readFileSync(file('drive-0'));
  await assert.rejects(open(), /drive-0 is there but pool\.db is not; bring pool\.db back/);
  assert.ok(fs.readFileSync(file('drive-0')).equals(before));
  fs.renameSync(file('away'), file('pool.db'));
  assert.deepEqual(await stored(await open()), BYTES);
});

test('a drive whose file is gone is a missing drive; the others keep their numbers', async () => {
  await leaveVolume({ level: 'RAID6', drives: 4 });
  fs.renameSync(file('drive-1'), file('away'));
  const degraded = await open();
  assert.deepEqual(await stored(degraded), BYTES);
  assert.deepEqual(
    degraded.group.state().members.map(({ driveId, state }) => [driveId, state]),
    [
      ['drive-0', 'active'],
      ['drive-1', 'failed'],
      ['drive-2', 'active'],
      ['drive-3', 'active'],
    ],
  );
  assert.throws(() => degraded.failDrive(1), /no drive 1; there are 0, 2, 3/);
  fs.renameSync(file('away'), file('drive-1'));
  await degraded.returnDrive(1);
  await degraded.group.rebuilt();
  assert.equal(degraded.group.state().status, 'normal');
});

test('a drive that replaces another gets a number never used before, and is replaced by it', async () => {
  await leaveVolume();
  fs.rmSync(file('drive-1'));
  const degraded = await open();
  assert.equal(await degraded.replaceDrive(1), 2);
  await degraded.group.rebuilt();
  await assert.rejects(degraded.replaceDrive(1), /drive 1 is no member of the group; those are 0, 2/);
  assert.equal(await degraded.replaceDrive(2), 3);
  await degraded.group.rebuilt();
  await degraded.close();
  const again = await open();
  assert.deepEqual(
    again.group.state().members.map(({ driveId }) => driveId),
    ['drive-0', 'drive-3'],
  );
  assert.deepEqual(await stored(again), BYTES);
});

test('a creation that was cut off is started over', async () => {
  for (const left of [[], ['drive-0'], ['drive-0', 'drive-1', 'drive-2', 'pool.db', 'pool.db-wal']]) {
    for (const name of ['creation-not-finished', ...left]) fs.writeFileSync(file(name), '');
    const { volume } = await open();
    assert.equal(volume.sizeBytes, 64 * MIB);
    await scratch?.close();
    assert.deepEqual(
      fs.readdirSync(folder).filter((name) => /^(creation-.*|drive-.*|pool\.db)$/.test(name)),
      ['drive-0', 'drive-1', 'pool.db'],
    );
    await open();
    await scratch?.close();
    for (const name of fs.readdirSync(folder)) fs.rmSync(file(name));
  }
});

test('a creation that fails leaves a mark, and the next start begins anew', async () => {
  fs.mkdirSync(file('pool.db-wal'));
  await assert.rejects(open());
  assert.ok(fs.existsSync(file('creation-not-finished')));
  fs.rmdirSync(file('pool.db-wal'));
  assert.equal((await open()).volume.sizeBytes, 64 * MIB);
});

test('what it says of itself is what is there, not what the options say', async () => {
  await leaveVolume({ level: 'RAID6', drives: 5 });
  assert.equal((await open()).describe(), `64M on RAID6 of 5 drives, in ${folder}`);
});

test('options that differ from what is there are refused by name', async () => {
  await leaveVolume();
  await assert.rejects(open({ level: 'RAID6' }), /^CommandFailure: --level: .* on RAID1; leave the option out/);
  await assert.rejects(open({ drives: 3 }), /--drives: .* on 2 drives/);
  await assert.rejects(open({ compression: true }), /--compression: .* without compression/);
  await assert.rejects(open({ deduplication: true }), /--deduplication: .* without deduplication/);
  await assert.rejects(open({ sizeBytes: 32 * MIB }), /--size: .* of 64M; it cannot become smaller/);
  await assert.rejects(open({ sizeBytes: 1024 * MIB }), /--size: .* room for \d+M; choose another folder/);
  assert.deepEqual(await stored(await open({ level: 'RAID1', drives: 2 })), BYTES);
});

test('a level takes so many drives and no more', async () => {
  await assert.rejects(open({ drives: 4 }), /--drives must be from 2 to 3 for RAID1, not 4/);
  await assert.rejects(open({ level: 'RAID6', drives: 3 }), /--drives must be from 4 to 10 for RAID6, not 3/);
});

test('a command of the console without what it is about says what is missing', async () => {
  const running = await open();
  for (const word of ['fail', 'return', 'replace']) {
    await assert.rejects(obey(running, word), new RegExp(`say which drive by its number: ${word} N`));
    await assert.rejects(obey(running, `${word} first`), /by its number/);
  }
  for (const word of ['snapshot', 'delete']) {
    await assert.rejects(obey(running, word), new RegExp(`say which snapshot by its name: ${word} NAME`));
  }
  assert.deepEqual(running.pool.snapshots.list(running.volume.id), []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../testing/random.ts';
import { checkFilesystem } from './check/check.ts';
import { Filesystem } from './filesystem.ts';
import { CrashDevice } from './testing/crash-device.ts';
import { MemoryDevice } from './testing/memory-device.ts';
import { SUPERUSER } from './testing/operations.ts';
import { codeOf, FilesystemSession } from './testing/filesystem-session.ts';

const TORTURE = process.env.GRANARY_TORTURE === '1';
const MIB = 1024 * 1024;
const RECORD = { destination: 'destination', key: 'key' };
const PIECE_BYTES = 100_000;

/** A file of so many extents that they are dropped in steps. */
async function imageOf(content: Buffer): Promise<MemoryDevice> {
  const device = new MemoryDevice(16 * MIB);
  await Filesystem.format(device, { journalBytes: 256 * 1024 });
  const root = new FilesystemSession(await Filesystem.mount(device), SUPERUSER);
  await root.make('/file');
  for (let at = 0; at < content.length; at += 8192) await root.write('/file', content.subarray(at, at + 4096), at);
  await root.truncate('/file', content.length);
  await root.filesystem.unmount();
  return device;
}

function newContent(): Buffer {
  const content = Buffer.alloc(1_500_000);
  for (let at = 0; at < content.length; at += 8192) content.subarray(at, at + 4096).fill(1 + ((at / 8192) % 255));
  return content;
}

/** Returns whether all was done before the power was cut. */
async function cutAt(image: MemoryDevice, content: Buffer, request: number): Promise<boolean> {
  const device = new CrashDevice(image);
  const root = new FilesystemSession(await Filesystem.mount(device), SUPERUSER);
  const { archives } = root.filesystem;
  const file = await root.stat('/file');
  device.cutAt(request);
  let state: 'before' | 'archived' | 'recalling' | 'recalled' = 'before';
  try {
    assert.ok(await archives.archive(file, RECORD));
    state = 'archived';
    for (let at = 0; at < content.length; at += PIECE_BYTES) {
      await archives.writeRecalled(file, at, content.subarray(at, at + PIECE_BYTES));
      if (at % (4 * PIECE_BYTES) === 0) await root.filesystem.commit();
    }
    state = 'recalling';
    await archives.finishRecall(file);
    state = 'recalled';
    await root.filesystem.whenIdle();
  } catch (error) {
    if (!device.isCut) throw error;
  }
  const left = await device.afterwards(randomFrom(request));
  assert.deepEqual((await checkFilesystem(left)).findings, [], `cut at ${request}`);
  const again = new FilesystemSession(await Filesystem.mount(left), SUPERUSER);
  const { isArchived, usedBytes, ...rest } = await again.stat('/file');
  if (state === 'archived') assert.ok(isArchived, `cut at ${request}`);
  if (state === 'recalled') assert.ok(!isArchived, `cut at ${request}`);
  const { usedBytes: _used, isArchived: _archived, ...before } = file;
  assert.deepEqual(rest, before);
  if (isArchived) {
    assert.equal(await codeOf(again.read('/file')), 'EARCHIVED');
    assert.deepEqual([await again.filesystem.archives.get(file.inode), usedBytes], [RECORD, 0]);
  } else {
    assert.ok((await again.read('/file')).equals(content), `cut at ${request}`);
  }
  await again.filesystem.unmount();
  assert.deepEqual((await checkFilesystem(left)).findings, [], `used again after a cut at ${request}`);
  return !device.isCut;
}

test('a power cut at any write of archiving or recalling leaves the file archived or whole', async () => {
  const content = newContent();
  const image = await imageOf(content);
  const stride = TORTURE ? 1 : 7;
  for (let request = 1; !(await cutAt(image, content, request)); request += stride);
});

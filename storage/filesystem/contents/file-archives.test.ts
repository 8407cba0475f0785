import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkFilesystem } from '../check/check.ts';
import { Filesystem } from '../filesystem.ts';
import { ArchivedError } from '../files/archive-record.ts';
import type { Attributes } from '../files/inode.ts';
import type { MemoryDevice } from '../testing/memory-device.ts';
import { codeOf, newScene, type FilesystemSession } from '../testing/filesystem-session.ts';

const RECORD = { destination: 'destination-1', key: 'objects/schlüssel' };
const CONTENT = Buffer.from(Array.from({ length: 50_000 }, (_, index) => index % 251));

async function archived(): Promise<{ root: FilesystemSession; device: MemoryDevice; file: Attributes }> {
  const { root, device } = await newScene();
  await root.make('/file', 'file', 0o4755);
  await root.write('/file', CONTENT);
  const before = await root.stat('/file');
  assert.equal(await root.filesystem.archives.archive(before, RECORD), true);
  const file = await root.stat('/file');
  const { usedBytes, isArchived, ...rest } = file;
  assert.deepEqual({ ...rest, usedBytes: before.usedBytes, isArchived: false }, before);
  assert.deepEqual([usedBytes, isArchived], [0, true]);
  return { root, device, file };
}

async function usage({ filesystem }: FilesystemSession): Promise<number> {
  return (await filesystem.quotas.get('user', 0)).usedBytes;
}

async function clean(root: FilesystemSession, device: MemoryDevice): Promise<void> {
  await root.filesystem.unmount();
  assert.deepEqual((await checkFilesystem(device)).findings, []);
}

describe('an archived file', () => {
  it('keeps all but its contents, and tells where they are', async () => {
    const { root, device, file } = await archived();
    assert.equal(await usage(root), 0);
    await assert.rejects(root.read('/file'), (error) => {
      assert.ok(error instanceof ArchivedError);
      assert.deepEqual([error.code, error.archive, error.inode], ['EARCHIVED', RECORD, file.inode]);
      return error.generation === file.generation;
    });
    const { bytes } = await root.filesystem.read(root.credentials, file.inode, CONTENT.length, Buffer.alloc(9));
    assert.equal(bytes, 0, 'nothing is read behind the end');
    assert.equal(await codeOf(root.write('/file', 'x')), 'EARCHIVED');
    assert.equal(await codeOf(root.truncate('/file', 10)), 'EARCHIVED');
    assert.equal(await codeOf(root.filesystem.punch(root.credentials, file.inode, 0, 10)), 'EARCHIVED');
    assert.equal(await codeOf(root.filesystem.preallocate(root.credentials, file.inode, 0, 10)), 'EARCHIVED');
    await root.chmod('/file', 0o600);
    await root.rename('/file', '/other');
    await root.link('/other', '/linked');
    assert.deepEqual(await root.filesystem.archives.get(file.inode), RECORD);
    assert.equal(await root.filesystem.archives.archive(await root.stat('/other'), RECORD), false, 'it is already');
    await clean(root, device);
    const again = root.in(await Filesystem.mount(device));
    assert.equal(await codeOf(again.read('/other')), 'EARCHIVED');
    await again.unlink('/other');
    await again.unlink('/linked');
    await clean(again, device);
  });

  it('is not archived in another version than was meant', async () => {
    const { root, device } = await newScene();
    await root.make('/file');
    await root.write('/file', CONTENT);
    const version = await root.stat('/file');
    const { archives } = root.filesystem;
    assert.equal(await archives.archive({ ...version, generation: version.generation + 1 }, RECORD), false);
    await root.write('/file', 'x', 9);
    assert.equal(await archives.archive(version, RECORD), false);
    assert.equal(await archives.archive({ ...version, inode: 999_999 }, RECORD), false);
    assert.equal(await archives.archive(await root.stat('/'), RECORD), false);
    const long = { destination: 'd', key: 'k'.repeat(2000) };
    assert.equal(await codeOf(archives.archive(await root.stat('/file'), long)), 'EINVAL');
    assert.equal((await root.read('/file')).toString('latin1', 9, 10), 'x');
    const present = await root.stat('/file');
    const writing = codeOf(root.filesystem.write(root.credentials, present.inode, 0, Buffer.from('y')));
    const isArchived = await archives.archive(present, RECORD);
    assert.equal(await writing, isArchived ? 'EARCHIVED' : undefined, 'either the write is seen, or it is refused');
    await clean(root, device);
  });

  it('can be small, empty or in many pieces', async () => {
    const { root, device } = await newScene();
    for (const path of ['/small', '/empty', '/long']) await root.make(path);
    await root.write('/small', 'inside the tree');
    for (let index = 0; index < 300; index += 1) await root.write('/long', Buffer.alloc(4096, 7), index * 8192);
    for (const path of ['/small', '/empty', '/long']) {
      const file = await root.stat(path);
      const content = await root.read(path);
      assert.equal(await root.filesystem.archives.archive(file, { ...RECORD, key: path }), true);
      await root.filesystem.sync();
      assert.deepEqual((await checkFilesystem(device)).findings, []);
      await root.filesystem.archives.writeRecalled(file, 0, content);
      await root.filesystem.archives.finishRecall(file);
      assert.deepEqual(await root.read(path), content);
    }
    await clean(root, device);
  });

  it('is cut off to nothing without a recall, and is an ordinary file then', async () => {
    const { root, device, file } = await archived();
    await root.filesystem.archives.writeRecalled(file, 0, CONTENT.subarray(0, 10_000));
    await root.truncate('/file', 0);
    assert.equal(await codeOf(root.filesystem.archives.writeRecalled(file, 10_000, CONTENT)), 'ESTALE');
    assert.equal(await codeOf(root.filesystem.archives.finishRecall(file)), 'ESTALE');
    await root.write('/file', 'new', 3);
    assert.equal((await root.read('/file')).toString(), '\0\0\0new');
    assert.equal((await root.stat('/file')).isArchived, false);
    await clean(root, device);
  });
});

describe('a recall', () => {
  it('shows all of the file at once, as it was', async () => {
    const { root, device, file } = await archived();
    const { archives } = root.filesystem;
    await archives.writeRecalled(file, 30_001, CONTENT.subarray(30_001));
    assert.equal(await codeOf(archives.finishRecall(file)), 'EINVAL', 'a part of it is missing');
    assert.equal(await codeOf(archives.writeRecalled(file, 1, CONTENT)), 'EINVAL', 'more than there was');
    await Promise.all(
      [0, 10_000, 20_000, 30_000].map((at) => archives.writeRecalled(file, at, CONTENT.subarray(at, at + 10_000))),
    );
    assert.equal(await codeOf(root.read('/file')), 'EARCHIVED');
    assert.ok((await usage(root)) >= CONTENT.length);
    await archives.finishRecall(file);
    assert.deepEqual(await root.read('/file'), CONTENT);
    const { usedBytes, accessed: _accessed, ...rest } = await root.stat('/file');
    assert.deepEqual({ ...rest, accessed: file.accessed, usedBytes: 0, isArchived: true }, file);
    assert.equal(usedBytes, await usage(root));
    assert.equal(await archives.get(file.inode), undefined);
    await clean(root, device);
  });

  it('that ends in the middle leaves the file archived, and no blocks', async () => {
    const { root, device, file } = await archived();
    const { archives } = root.filesystem;
    await archives.writeRecalled(file, 0, CONTENT.subarray(0, 30_000));
    await archives.abandonRecall(file);
    assert.equal(await usage(root), 0);
    await archives.writeRecalled(file, 30_000, CONTENT.subarray(30_000));
    assert.equal(await codeOf(archives.finishRecall(file)), 'EINVAL', 'what was dropped does not count');
    await root.filesystem.commit();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
    await root.filesystem.unmount();
    const again = root.in(await Filesystem.mount(device));
    assert.equal(await usage(again), 0, 'the mount frees what was recalled');
    assert.equal(await codeOf(again.filesystem.archives.finishRecall(file)), 'EINVAL');
    await again.filesystem.archives.writeRecalled(file, 0, CONTENT);
    await again.filesystem.archives.finishRecall(file);
    assert.deepEqual(await again.read('/file'), CONTENT);
    await clean(again, device);
  });

  it('keeps holes, and needs room in the quota', async () => {
    const { root, device } = await newScene();
    await root.make('/sparse');
    await root.truncate('/sparse', 1_000_000);
    await root.write('/sparse', 'end', 900_000);
    const [file, content] = [await root.stat('/sparse'), await root.read('/sparse')];
    const { archives, quotas } = root.filesystem;
    await archives.archive(file, RECORD);
    const recall = async (): Promise<void> => {
      for (let at = 0; at < content.length; at += 100_000) {
        await archives.writeRecalled(file, at, content.subarray(at, at + 100_000));
      }
    };
    await quotas.set([{ scope: 'user', id: 0, limitBytes: 50_000, limitInodes: undefined }]);
    await quotas.setState({ user: true, group: false, project: false });
    assert.equal(await codeOf(recall()), 'EDQUOT');
    await quotas.setState({ user: false, group: false, project: false });
    await recall();
    await archives.finishRecall(file);
    assert.deepEqual(await root.read('/sparse'), content);
    assert.ok((await root.stat('/sparse')).usedBytes < 120_000);
    await clean(root, device);
  });
});

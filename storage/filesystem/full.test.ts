import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomFrom } from '../../testing/random.ts';
import { checkFilesystem } from './check/check.ts';
import { Filesystem } from './filesystem.ts';
import { codeOf, newScene, type FilesystemSession } from './testing/filesystem-session.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Writes until something is refused. Returns how often it was not. */
async function until(error: string, work: (index: number) => Promise<unknown>): Promise<number> {
  for (let index = 0; ; index += 1) {
    const code = await codeOf(work(index));
    if (code === undefined) continue;
    assert.equal(code, error);
    return index;
  }
}

async function contentsFit(root: FilesystemSession, files: number, pieceBytes: number): Promise<void> {
  for (let index = 0; index < files; index += 1) {
    const content = await root.read(`/${index}`);
    assert.deepEqual(content, Buffer.alloc(content.length, 1 + (index % 200)));
    assert.ok(content.length === pieceBytes || content.length === 0);
  }
}

describe('a full filesystem', () => {
  it('refuses data with ENOSPC, keeps what it has, and works again after a deletion', async () => {
    const { root, device } = await newScene({ sizeBytes: 8 * MIB, random: randomFrom(1) });
    const before = root.filesystem.statistics().availableBytes;
    const written = await until('ENOSPC', async (index) => {
      await root.make(`/${index}`);
      await root.write(`/${index}`, Buffer.alloc(64 * KIB, 1 + (index % 200)));
    });
    assert.ok(written * 64 * KIB > before * 0.9, `${written} files in ${before} bytes`);
    await contentsFit(root, written, 64 * KIB);
    await root.filesystem.commit();
    for (let index = 0; index < written; index += 2) await root.unlink(`/${index}`);
    await root.filesystem.whenIdle();
    const again = await until('ENOSPC', async (index) => {
      await root.make(`/again-${index}`);
      await root.write(`/again-${index}`, Buffer.alloc(64 * KIB, 7));
    });
    assert.ok(again >= written / 2 - 2, `${again} of ${written}`);
    await root.filesystem.unmount();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
  });

  it('is full of small files with ENOSPC, too, and can be emptied', async () => {
    const { root, device } = await newScene({ sizeBytes: 4 * MIB });
    const made = await until('ENOSPC', async (index) => {
      await root.make(`/${index}`);
      await root.write(`/${index}`, Buffer.alloc(1000, 1 + (index % 200)));
    });
    assert.ok(made > 500, `${made} files`);
    await contentsFit(root, made, 1000);
    assert.equal(await codeOf(root.chmod('/0', 0o600)), undefined, 'what needs no space goes on');
    await root.filesystem.sync();
    for (const name of await root.list('/')) await root.unlink(`/${name}`);
    await root.filesystem.whenIdle();
    assert.equal(root.filesystem.statistics().inodes, 1);
    await root.filesystem.unmount();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
  });

  it('grows while it is mounted', async () => {
    const { root, device } = await newScene({ sizeBytes: 4 * MIB });
    await root.make('/file');
    assert.equal(await codeOf(root.write('/file', Buffer.alloc(6 * MIB, 1))), 'ENOSPC');
    device.grow(64 * MIB);
    await root.filesystem.grow();
    assert.equal(root.filesystem.statistics().totalBytes, 64 * MIB);
    await root.write('/file', Buffer.alloc(40 * MIB, 1));
    await root.filesystem.unmount();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
    const again = await Filesystem.mount(device);
    assert.equal(again.statistics().totalBytes, 64 * MIB);
  });
});

describe('a pool that is full', () => {
  it('refuses with ENOSPC in the middle of anything, and nothing is lost when it has room again', async () => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const { root, device } = await newScene({ sizeBytes: 8 * MIB, random: randomFrom(seed) });
      await root.make('/kept');
      await root.write('/kept', Buffer.alloc(100 * KIB, 9));
      await root.filesystem.commit();
      device.roomBytes = seed * 140 * KIB;
      const made: string[] = [];
      let refused = 0;
      for (let index = 0; index < 60; index += 1) {
        const code = await codeOf(
          root.make(`/${index}`).then(() => root.write(`/${index}`, Buffer.alloc(20 * KIB, 5))),
        );
        if (code === undefined) made.push(`/${index}`);
        else refused += 1;
        if (code !== undefined) assert.ok(code === 'ENOSPC' || code === 'EEXIST', code);
      }
      assert.ok(refused > 0);
      assert.ok((await root.read('/kept')).every((byte) => byte === 9));
      device.roomBytes = Infinity;
      await root.make('/after');
      await root.write('/after', Buffer.alloc(200 * KIB, 8));
      await root.filesystem.unmount();
      assert.deepEqual((await checkFilesystem(device)).findings, []);
      const again = root.as(0);
      const mounted = await Filesystem.mount(device);
      for (const path of made) {
        const { size } = await mounted.resolve(again.credentials, Buffer.from(path));
        assert.equal(size, 20 * KIB);
      }
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomFrom } from '../../../testing/random.ts';
import { checkFilesystem } from '../check/check.ts';
import { Filesystem } from '../filesystem.ts';
import { MemoryDevice } from '../testing/memory-device.ts';
import { codeOf, newScene, type FilesystemSession } from '../testing/filesystem-session.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

async function newFile(root: FilesystemSession, path = '/file'): Promise<number> {
  return (await root.make(path)).inode;
}

async function verifyClean(root: FilesystemSession, device: MemoryDevice): Promise<void> {
  await root.filesystem.unmount();
  assert.deepEqual((await checkFilesystem(device)).findings, []);
}

describe('contents', () => {
  it('of every size around the limits come back', async () => {
    const { root, device } = await newScene({ random: randomFrom(3) });
    for (const size of [1, 511, 512, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 12_288, 200_001]) {
      await newFile(root, `/${size}`);
      const data = Buffer.alloc(size, size % 251);
      await root.write(`/${size}`, data);
      assert.deepEqual(await root.read(`/${size}`), data);
    }
    await verifyClean(root, device);
    const again = root.in(await Filesystem.mount(device));
    for (const size of [1, 1024, 1025, 4096, 200_001]) {
      assert.deepEqual(await again.read(`/${size}`), Buffer.alloc(size, size % 251));
    }
  });

  it('behind the end are zeros, whatever was there before', async () => {
    const { root, device } = await newScene();
    for (const [first, cut, then] of [
      [900, 100, 500],
      [5000, 4500, 6000],
      [5000, 100, 20_000],
      [20_000, 9000, 9100],
    ] as const) {
      const inode = await newFile(root);
      await root.write('/file', Buffer.alloc(first, 1));
      await root.truncate('/file', cut);
      await root.truncate('/file', then);
      assert.deepEqual(await root.read('/file'), Buffer.concat([Buffer.alloc(cut, 1)], then));
      await root.truncate('/file', cut);
      await root.write('/file', 'end', then);
      assert.deepEqual(
        await root.read('/file'),
        Buffer.concat([Buffer.alloc(cut, 1), Buffer.alloc(then - cut), Buffer.from('end')]),
      );
      assert.ok(inode > 0);
      await root.unlink('/file');
    }
    await verifyClean(root, device);
  });

  it('may be 16 TiB apart', async () => {
    const { root, device } = await newScene();
    const inode = await newFile(root);
    await root.write('/file', 'begin');
    await root.write('/file', 'end', 2 ** 44 - 3);
    const { size, usedBytes } = await root.stat('/file');
    assert.equal(size, 2 ** 44);
    assert.equal(usedBytes, 8192);
    const into = Buffer.alloc(10, 1);
    assert.deepEqual(await root.filesystem.read(root.credentials, inode, 2 ** 44 - 5, into), { bytes: 5, isEnd: true });
    assert.equal(into.toString('latin1', 0, 5), '\0\0end');
    assert.deepEqual(await root.filesystem.read(root.credentials, inode, 2 ** 44, into), { bytes: 0, isEnd: true });
    assert.equal(await codeOf(root.write('/file', 'x', 2 ** 44)), 'EFBIG');
    await verifyClean(root, device);
  });

  it('in a hole that is punched are gone, and so is their space', async () => {
    const { root, device } = await newScene();
    const inode = await newFile(root);
    await root.write('/file', Buffer.alloc(MIB, 3));
    await root.filesystem.punch(root.credentials, inode, 100_000, 800_000);
    const expected = Buffer.alloc(MIB, 3).fill(0, 100_000, 900_000);
    assert.deepEqual(await root.read('/file'), expected);
    assert.equal((await root.stat('/file')).usedBytes, MIB - (219 - 25) * 4096);
    await verifyClean(root, device);
  });

  it('in preallocated space are zeros until they are written, and take no more space', async () => {
    const { root, device } = await newScene();
    const inode = await newFile(root);
    await root.write('/file', 'small');
    await root.filesystem.preallocate(root.credentials, inode, 0, 100 * KIB, { keepsSize: true });
    assert.equal((await root.read('/file')).toString(), 'small');
    const { usedBytes } = await root.stat('/file');
    assert.equal(usedBytes, 100 * KIB);
    await root.write('/file', 'far', 50_000);
    const expected = Buffer.alloc(50_003);
    expected.write('small');
    expected.write('far', 50_000);
    assert.deepEqual(await root.read('/file'), expected);
    assert.equal((await root.stat('/file')).usedBytes, usedBytes);
    await root.filesystem.preallocate(root.credentials, inode, 0, 200 * KIB);
    assert.equal((await root.stat('/file')).size, 200 * KIB);
    assert.deepEqual(await root.read('/file'), Buffer.concat([expected], 200 * KIB));
    await verifyClean(root, device);
  });

  it('of one stream lie together', async () => {
    const { root, device } = await newScene();
    const inode = await newFile(root);
    for (let at = 0; at < 4 * MIB; at += 128 * KIB) {
      await root.filesystem.write(root.credentials, inode, at, Buffer.alloc(128 * KIB, at / KIB));
    }
    await root.filesystem.unmount();
    const { nodes } = await checkFilesystem(device);
    assert.ok(nodes < 3);
  });

  it('written by many at once are each where they belong', async () => {
    const { root, device } = await newScene({ random: randomFrom(9) });
    const inode = await newFile(root);
    const pieces = Array.from({ length: 64 }, (_, index) => index).sort(
      (one, other) => ((one * 37) % 64) - ((other * 37) % 64),
    );
    const { filesystem, credentials } = root;
    await Promise.all(
      pieces.map((index) => filesystem.write(credentials, inode, index * 5000, Buffer.alloc(5000, 1 + index))),
    );
    const content = await root.read('/file');
    for (let index = 0; index < 64; index += 1) {
      assert.deepEqual(content.subarray(index * 5000, index * 5000 + 5000), Buffer.alloc(5000, 1 + index));
    }
    await verifyClean(root, device);
  });

  it('that are being read are not given to others', async () => {
    const { root, device } = await newScene({ random: randomFrom(5), sizeBytes: 8 * MIB });
    const { filesystem, credentials } = root;
    for (let round = 0; round < 12; round += 1) {
      const inode = await newFile(root);
      await root.write('/file', Buffer.alloc(600 * KIB, 1));
      const into = Buffer.alloc(600 * KIB);
      const reading = filesystem.read(credentials, inode, 0, into);
      await root.unlink('/file');
      await newFile(root, '/other');
      await root.write('/other', Buffer.alloc(600 * KIB, 2));
      await reading;
      assert.ok(into.every((byte) => byte === 1));
      await root.unlink('/other');
    }
    await verifyClean(root, device);
  });

  it('with many extents are cut off and removed in steps, and space comes back', async () => {
    const { root, device } = await newScene({ sizeBytes: 16 * MIB });
    const { freeBytes } = root.filesystem.statistics();
    for (const end of ['truncate', 'unlink'] as const) {
      const inode = await newFile(root);
      for (let block = 0; block < 500; block += 1) {
        await root.filesystem.write(root.credentials, inode, block * 8192, Buffer.alloc(4096, 1));
      }
      if (end === 'truncate') await root.truncate('/file', 5000);
      await root.unlink('/file');
      await root.filesystem.whenIdle();
    }
    await root.filesystem.sync();
    assert.ok(freeBytes - root.filesystem.statistics().freeBytes < 128 * KIB);
    await verifyClean(root, device);
  });

  it('that were deleted are discarded in whole extents, and nothing else is', async () => {
    const { root, device } = await newScene();
    await newFile(root, '/kept');
    await root.write('/kept', Buffer.alloc(MIB, 1));
    await newFile(root);
    await root.write('/file', Buffer.alloc(4 * MIB, 2));
    await root.filesystem.commit();
    device.discards.length = 0;
    await root.unlink('/file');
    await root.filesystem.whenIdle();
    const discarded = device.discards.reduce((sum, { length }) => sum + length, 0);
    assert.ok(discarded >= 3.5 * MIB, `${discarded} bytes`);
    assert.ok(device.discards.length < 5, `${device.discards.length} pieces`);
    assert.deepEqual(await root.read('/kept'), Buffer.alloc(MIB, 1));
    await verifyClean(root, device);
  });
});

describe('a commit', () => {
  it('needs one flush for a small file, and another one where it overwrites what was committed last', async () => {
    const { root, device } = await newScene();
    const flushesOf = async (path: string, offset: number, bytes: number): Promise<number> => {
      await root.write(path, Buffer.alloc(bytes, 1), offset);
      device.flushes = 0;
      await root.filesystem.commit();
      return device.flushes;
    };
    const [one, other] = [await newFile(root, '/one'), await newFile(root, '/other')];
    assert.ok(one !== other);
    assert.equal(await flushesOf('/one', 0, 5000), 1);
    assert.equal(await flushesOf('/other', 0, 4096), 1);
    assert.equal(await flushesOf('/one', 0, 4096), 1, 'overwritten in place');
    assert.equal(await flushesOf('/one', 100_000, 300_000), 2, 'much data are flushed before they are named');
    await root.write('/other', Buffer.alloc(4096, 2), 8192);
    await root.filesystem.commit();
    device.flushes = 0;
    await root.write('/other', Buffer.alloc(4096, 3), 8192);
    assert.equal(device.flushes, 1, 'another batch first');
    await verifyClean(root, device);
  });
});

describe('the time of access', () => {
  it('tells that a file or directory was read since it changed, and costs nothing more', async () => {
    const { root } = await newScene();
    await newFile(root);
    await root.write('/file', 'abc');
    const before = await root.stat('/file');
    await root.read('/file');
    const read = await root.stat('/file');
    assert.ok(read.accessed.nanoseconds > before.accessed.nanoseconds);
    assert.equal(read.change, before.change);
    await root.read('/file');
    assert.deepEqual((await root.stat('/file')).accessed, read.accessed);
    await root.write('/file', 'def');
    await root.read('/file');
    assert.ok((await root.stat('/file')).accessed.nanoseconds > read.accessed.nanoseconds);
    const directory = await root.mkdir('/directory');
    await root.list('/directory');
    assert.ok((await root.stat('/directory')).accessed.nanoseconds > directory.accessed.nanoseconds);
  });
});

describe('a file that is open', () => {
  it('outlives its last name until it is closed', async () => {
    const { root, device } = await newScene();
    const inode = await newFile(root);
    await root.write('/file', Buffer.alloc(100 * KIB, 1));
    root.filesystem.open(inode);
    root.filesystem.open(inode);
    await root.unlink('/file');
    assert.equal(await codeOf(root.stat('/file')), 'ENOENT');
    assert.equal((await root.filesystem.attributes(inode)).links, 0);
    await root.filesystem.write(root.credentials, inode, 100 * KIB, Buffer.from('more'));
    await root.filesystem.close(inode);
    const into = Buffer.alloc(200 * KIB);
    const { bytes } = await root.filesystem.read(root.credentials, inode, 0, into);
    assert.equal(bytes, 100 * KIB + 4);
    assert.equal(
      await codeOf(root.filesystem.link(root.credentials, inode, root.filesystem.root, Buffer.from('x'))),
      'ENOENT',
    );
    await root.filesystem.close(inode);
    await root.filesystem.whenIdle();
    assert.equal(await codeOf((async () => root.filesystem.attributes(inode))()), 'ESTALE');
    await verifyClean(root, device);
  });

  it('is removed by the next mount if there was a crash, also when it was replaced by a rename', async () => {
    const { root, device } = await newScene();
    const inode = await newFile(root);
    await root.write('/file', Buffer.alloc(100 * KIB, 1));
    root.filesystem.open(inode);
    await newFile(root, '/other');
    await root.rename('/other', '/file');
    const crashed = new MemoryDevice(Buffer.from(device.bytes));
    assert.deepEqual((await checkFilesystem(crashed)).findings, []);
    const again = await Filesystem.mount(crashed);
    await again.whenIdle();
    assert.equal(await codeOf((async () => again.attributes(inode))()), 'ESTALE');
    assert.equal(again.statistics().inodes, 2);
    await again.unmount();
    assert.deepEqual((await checkFilesystem(crashed)).findings, []);
  });

  it('a directory that was removed takes no names', async () => {
    const { root, device } = await newScene();
    const { inode } = await root.mkdir('/gone');
    root.filesystem.open(inode);
    await root.rmdir('/gone');
    const make = root.filesystem.create(root.credentials, inode, Buffer.from('x'), { type: 'file', mode: 0o600 });
    assert.equal(await codeOf(make), 'ENOENT');
    await root.filesystem.close(inode);
    await root.filesystem.whenIdle();
    await verifyClean(root, device);
  });
});

describe('handles', () => {
  it('of an inode that is gone, or is another file since a revert, are stale', async () => {
    const { root, device } = await newScene();
    const earlier = Buffer.from(device.bytes);
    const { inode, generation } = await root.make('/file');
    const reverted = new MemoryDevice(earlier);
    const again = await Filesystem.mount(reverted);
    const other = await again.create(root.credentials, again.root, Buffer.from('other'), { type: 'file', mode: 0o600 });
    assert.equal(other.inode, inode, 'the number is used again');
    assert.equal(await codeOf((async () => again.attributes(inode, generation))()), 'ESTALE');
    assert.equal((await root.filesystem.attributes(inode, generation)).inode, inode);
    await verifyClean(root, device);
  });
});

describe('a snapshot', () => {
  it('is mounted to read, and refuses changes', async () => {
    const { root, device } = await newScene();
    await newFile(root);
    await root.write('/file', 'then');
    await root.filesystem.commit();
    const snapshot = new MemoryDevice(Buffer.from(device.bytes), { readOnly: true });
    await root.write('/file', 'now!');
    const mounted = await Filesystem.mount(snapshot);
    const shown = root.in(mounted);
    assert.equal((await shown.read('/file')).toString(), 'then');
    assert.equal(await codeOf(shown.make('/new')), 'EROFS');
    assert.equal(await codeOf(shown.write('/file', 'x')), 'EROFS');
    assert.equal(await codeOf(shown.unlink('/file')), 'EROFS');
    await mounted.unmount();
  });
});

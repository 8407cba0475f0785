import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkFilesystem } from '../check/check.ts';
import { codeOf, newScene } from '../testing/filesystem-session.ts';

const NAME = Buffer.from('file');

describe('a file that is made with its attributes', () => {
  it('has them from the beginning', async () => {
    const { root, device } = await newScene();
    const { filesystem, credentials } = root;
    const modified = { seconds: -5, nanoseconds: 7 };
    const node = { type: 'file', mode: 0o4755, uid: 5, gid: 6, size: 10_000, modified } as const;
    const { directory, ...made } = await filesystem.create(credentials, filesystem.root, NAME, node);
    assert.deepEqual([made.uid, made.gid, made.mode, made.size, made.change], [5, 6, 0o4755, 10_000, 1]);
    assert.deepEqual([made.modified, made.accessed], [modified, made.changed]);
    assert.deepEqual(await root.stat('/file'), made);
    assert.deepEqual((await root.read('/file')).equals(Buffer.alloc(10_000)), true);
    assert.equal((await filesystem.quotas.get('user', 5)).usedInodes, 1);
    assert.equal(directory.change, directory.before.change + 1);
    await filesystem.unmount();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
  });

  it('is not made if they are not for its maker to give', async () => {
    const { root } = await newScene();
    await root.chmod('/', 0o2777);
    await root.change('/', { gid: 50 });
    const user = root.as(1000, 1000, [7]);
    const make = (name: string, attributes: object) =>
      user.filesystem.create(user.credentials, user.filesystem.root, Buffer.from(name), {
        type: 'file',
        mode: 0o2755,
        ...attributes,
      });
    for (const attributes of [{ uid: 1001 }, { gid: 8 }]) assert.equal(await codeOf(make('a', attributes)), 'EPERM');
    assert.equal(await codeOf(make('a', { type: 'fifo', size: 1 })), 'EINVAL');
    assert.equal(await codeOf(make('a', { size: 2 ** 45 })), 'EFBIG');
    assert.deepEqual(await user.list('/'), []);
    assert.equal((await make('b', { uid: 1000, gid: 7 })).gid, 7);
    const inherited = await make('c', {});
    assert.deepEqual(
      [inherited.gid, inherited.mode],
      [50, 0o755],
      'only members make set-group-id programs of a group',
    );
  });
});

describe('what a change returns', () => {
  it('is the moment before and the moment after, whatever else happens', async () => {
    const { root } = await newScene();
    const { filesystem, credentials } = root;
    const other = await root.mkdir('/other');
    const names = Array.from({ length: 20 }, (_, index) => Buffer.from(`file-${index}`));
    const made = await Promise.all(
      names.map((name) => filesystem.create(credentials, filesystem.root, name, { type: 'file', mode: 0o600 })),
    );
    for (const { directory } of made) assert.equal(directory.change, directory.before.change + 1);
    assert.equal(new Set(made.map(({ directory }) => directory.change)).size, names.length);
    const [first, second] = names as [Buffer, Buffer];
    const to = { directory: other.inode, name: first };
    const renamed = await filesystem.rename(credentials, { directory: filesystem.root, name: first }, to);
    assert.deepEqual(renamed.to, { ...(await root.stat('/other')), before: renamed.to.before });
    assert.deepEqual(renamed.to.before, (({ directory: _directory, ...rest }) => rest)(other));
    assert.equal(renamed.from.before.change, made.at(-1)?.directory.change ?? 0);
    const removed = await filesystem.unlink(credentials, filesystem.root, second);
    assert.equal(removed.before.change, renamed.from.change);
    const { inode } = await root.stat('/file-3');
    const written = await filesystem.write(credentials, inode, 0, Buffer.alloc(5000));
    assert.deepEqual([written.before.size, written.before.usedBytes, written.size], [0, 0, 5000]);
    const modified = { seconds: 1, nanoseconds: 2 };
    const changed = await filesystem.setAttributes(credentials, inode, { size: 100, mode: 0o4711, uid: 9, modified });
    assert.deepEqual([changed.before.size, changed.size, changed.mode, changed.uid], [5000, 100, 0o4711, 9]);
    assert.deepEqual([changed.modified, changed.change], [modified, written.change + 1]);
  });
});

describe('extended attributes', () => {
  it('count for quotas and for the space that a file takes', async () => {
    const { root, device } = await newScene();
    const { filesystem } = root;
    await root.make('/file');
    await root.change('/file', { uid: 9 });
    await filesystem.quotas.set([{ scope: 'user', id: 9, limitBytes: 5000, limitInodes: undefined }]);
    await filesystem.quotas.setState({ user: true, group: false, project: false });
    await root.setXattr('/file', 'user.a', 'v'.repeat(4000));
    assert.equal(await codeOf(root.setXattr('/file', 'user.b', 'v'.repeat(1000))), 'EDQUOT');
    assert.equal((await root.stat('/file')).usedBytes, (await filesystem.quotas.get('user', 9)).usedBytes);
    assert.ok((await root.stat('/file')).usedBytes >= 4000);
    await root.setXattr('/file', 'user.a', 'short');
    await root.setXattr('/file', 'user.b', 'v'.repeat(1000));
    await filesystem.quotas.setState({ user: false, group: false, project: false });
    // More than one step of a removal takes.
    for (let index = 0; index < 10; index += 1) await root.setXattr('/file', `user.${index}`, Buffer.alloc(60_000));
    await root.change('/file', { uid: 10 });
    assert.equal((await filesystem.quotas.get('user', 9)).usedBytes, 0);
    await filesystem.sync();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
    await root.unlink('/file');
    await filesystem.whenIdle();
    assert.equal((await filesystem.quotas.get('user', 10)).usedBytes, 0);
    await filesystem.unmount();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
  });
});

describe('seek', () => {
  it('finds data and holes', async () => {
    const { root } = await newScene();
    const { inode } = await root.make('/file');
    const seek = async (offset: number, what: 'data' | 'hole') => root.filesystem.seek(inode, offset, what);
    assert.equal(await codeOf(seek(0, 'data')), 'ENXIO');
    await root.write('/file', 'small');
    assert.deepEqual([await seek(2, 'data'), await seek(2, 'hole')], [2, 5]);
    await root.truncate('/file', 0);
    await root.truncate('/file', 100_000);
    assert.equal(await codeOf(seek(0, 'data')), 'ENXIO');
    await root.write('/file', Buffer.alloc(5000, 1), 40_000);
    assert.deepEqual([await seek(0, 'hole'), await seek(0, 'data')], [0, 36_864]);
    assert.deepEqual([await seek(40_001, 'data'), await seek(40_001, 'hole')], [40_001, 45_056]);
    assert.equal(await codeOf(seek(50_000, 'data')), 'ENXIO');
    await root.filesystem.preallocate(root.credentials, inode, 60_000, 10_000);
    assert.equal(await seek(60_000, 'hole'), 60_000, 'blocks in advance hold no data');
    await root.write('/file', Buffer.alloc(50_000, 1), 50_000);
    assert.equal(await seek(90_000, 'hole'), 100_000, 'the end is a hole');
    assert.equal(await codeOf(seek(100_000, 'hole')), 'ENXIO');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkFilesystem } from '../check/check.ts';
import { Filesystem } from '../filesystem.ts';
import { codeOf, newScene, type FilesystemSession } from '../testing/filesystem-session.ts';

const KIB = 1024;
const ON = { user: true, group: true, project: true };

async function sceneWithUser(): Promise<Awaited<ReturnType<typeof newScene>> & { user: FilesystemSession }> {
  const scene = await newScene();
  await scene.root.chmod('/', 0o777);
  await scene.root.filesystem.quotas.setState(ON);
  return { ...scene, user: scene.root.as(1000, 100) };
}

async function limit(
  root: FilesystemSession,
  scope: 'user' | 'group' | 'project',
  id: number,
  limitBytes?: number,
  limitInodes?: number,
): Promise<void> {
  await root.filesystem.quotas.set([{ scope, id, limitBytes, limitInodes }]);
}

async function usedBy(
  root: FilesystemSession,
  scope: 'user' | 'group' | 'project',
  id: number,
): Promise<[number, number]> {
  const { usedBytes, usedInodes } = await root.filesystem.quotas.get(scope, id);
  return [usedBytes, usedInodes];
}

describe('quotas', () => {
  it('count blocks and small files to the byte', async () => {
    const { root, user } = await sceneWithUser();
    await user.make('/small');
    await user.write('/small', 'x'.repeat(100));
    assert.deepEqual(await usedBy(root, 'user', 1000), [100, 1]);
    await user.make('/large');
    await user.write('/large', Buffer.alloc(10 * KIB, 1));
    assert.deepEqual(await usedBy(root, 'user', 1000), [100 + 12 * KIB, 2]);
    assert.deepEqual(await usedBy(root, 'group', 100), [100 + 12 * KIB, 2]);
    await user.truncate('/large', 4 * KIB);
    await user.write('/small', 'x'.repeat(2000));
    assert.deepEqual(await usedBy(root, 'user', 1000), [8 * KIB, 2]);
    await user.unlink('/large');
    await user.unlink('/small');
    assert.deepEqual(await usedBy(root, 'user', 1000), [0, 0]);
    assert.deepEqual(await root.filesystem.quotas.list('user', 1, 10), [], 'nothing is kept of those who have nothing');
  });

  it('refuse the first byte too much, and nothing before', async () => {
    const { root, user } = await sceneWithUser();
    await limit(root, 'user', 1000, 64 * KIB);
    await user.make('/file');
    await user.write('/file', Buffer.alloc(64 * KIB, 1));
    assert.equal(await codeOf(user.write('/file', 'x', 64 * KIB)), 'EDQUOT');
    await user.make('/other');
    assert.equal(await codeOf(user.write('/other', 'x')), 'EDQUOT', 'a byte in the tree counts, too');
    await user.write('/file', Buffer.alloc(64 * KIB, 2));
    await user.truncate('/file', 60 * KIB);
    await user.write('/other', 'x'.repeat(1000));
    await user.truncate('/file', 2 ** 40);
    assert.equal(await codeOf(user.write('/file', 'x', 2 ** 39)), 'EDQUOT', 'a hole costs when it is filled');
    const { inode } = await user.stat('/file');
    assert.equal(await codeOf(user.filesystem.preallocate(user.credentials, inode, 0, 128 * KIB)), 'EDQUOT');
    assert.deepEqual(await usedBy(root, 'user', 1000), [60 * KIB + 1000, 2]);
  });

  it('refuse one file too many', async () => {
    const { root, user } = await sceneWithUser();
    await limit(root, 'group', 100, undefined, 2);
    await user.make('/1');
    await user.mkdir('/2');
    assert.equal(await codeOf(user.make('/3')), 'EDQUOT');
    await user.link('/1', '/again');
    await user.unlink('/1');
    assert.equal(await codeOf(user.make('/3')), 'EDQUOT', 'the file is still there');
    await user.unlink('/again');
    assert.equal(await codeOf(user.make('/3')), undefined);
  });

  it('hold only while they are on, and are counted meanwhile', async () => {
    const { root, user } = await sceneWithUser();
    await limit(root, 'user', 1000, 4 * KIB);
    await root.filesystem.quotas.setState({ ...ON, user: false });
    await user.make('/file');
    await user.write('/file', Buffer.alloc(32 * KIB, 1));
    await root.filesystem.quotas.setState(ON);
    assert.equal(await codeOf(user.write('/file', 'x', 40 * KIB)), 'EDQUOT');
    assert.equal(await codeOf(user.write('/file', 'x', 3)), undefined, 'what takes no space is allowed');
    assert.deepEqual(await usedBy(root, 'user', 1000), [32 * KIB, 1]);
  });

  it('follow a file that changes hands', async () => {
    const { root, user } = await sceneWithUser();
    await user.make('/file');
    await user.write('/file', Buffer.alloc(8 * KIB, 1));
    await limit(root, 'user', 2000, 4 * KIB);
    assert.equal(await codeOf(root.change('/file', { uid: 2000 })), 'EDQUOT');
    await root.change('/file', { uid: 3000, gid: 300 });
    assert.deepEqual(await usedBy(root, 'user', 1000), [0, 0]);
    assert.deepEqual(await usedBy(root, 'user', 3000), [8 * KIB, 1]);
    assert.deepEqual(await usedBy(root, 'group', 300), [8 * KIB, 1]);
  });

  it('of projects are inherited, limited, and not crossed by a rename', async () => {
    const { root, user, device } = await sceneWithUser();
    await user.mkdir('/apollo');
    await user.make('/outside');
    const { inode } = await root.stat('/apollo');
    assert.equal(await codeOf(user.filesystem.quotas.setProject(user.credentials, inode, 9)), 'EPERM');
    await root.filesystem.quotas.setProject(root.credentials, inode, 9);
    await limit(root, 'project', 9, 16 * KIB);
    await user.mkdir('/apollo/deep');
    const file = await user.make('/apollo/deep/file');
    assert.equal(file.project, 9);
    await user.write('/apollo/deep/file', Buffer.alloc(16 * KIB, 1));
    assert.equal(await codeOf(user.write('/apollo/deep/file', 'x', 16 * KIB)), 'EDQUOT');
    assert.deepEqual(await usedBy(root, 'project', 9), [16 * KIB, 3]);
    assert.equal(await codeOf(user.rename('/apollo/deep/file', '/file')), 'EXDEV');
    assert.equal(await codeOf(user.rename('/outside', '/apollo/outside')), 'EXDEV');
    assert.equal(await codeOf(user.link('/outside', '/apollo/outside')), 'EXDEV');
    assert.equal(await codeOf(user.rename('/apollo/deep/file', '/apollo/file')), undefined);
    await user.unlink('/apollo/file');
    assert.deepEqual(await usedBy(root, 'project', 9), [0, 2]);
    await root.filesystem.unmount();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
    const again = await Filesystem.mount(device);
    assert.equal((await again.quotas.get('project', 9)).limitBytes, 16 * KIB);
    assert.deepEqual(await again.quotas.state(), ON);
  });

  it('are set by the thousand in one go', async () => {
    const { root } = await sceneWithUser();
    const limits = Array.from({ length: 10_000 }, (_, id) => ({
      scope: 'user' as const,
      id: id + 1,
      limitBytes: id * KIB,
      limitInodes: undefined,
    }));
    await root.filesystem.quotas.set(limits);
    const listed = await root.filesystem.quotas.list('user', 1, 20_000);
    assert.deepEqual(
      listed.map(({ id, limitBytes }) => [id, limitBytes]),
      limits.map(({ id, limitBytes }) => [id, limitBytes]),
    );
  });
});

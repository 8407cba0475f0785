import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { checkFilesystem } from './check/check.ts';
import type { Attributes, FileType } from './files/inode.ts';
import type { MemoryDevice } from './testing/memory-device.ts';
import { codeOf, newScene, type FilesystemSession } from './testing/filesystem-session.ts';

const KINDS: FileType[] = ['file', 'directory', 'symlink', 'fifo', 'socket', 'block', 'character'];
const LONG = 'n'.repeat(256);
const LINKS_FOLLOWED_MAX = 40;

/** What makes a new name, and what needs an old one, by path: each is refused for the same reasons. */
const MAKING: readonly (readonly [
  string,
  (user: FilesystemSession, path: string, home: string) => Promise<unknown>,
])[] = [
  ...KINDS.map(
    (kind) => [`make a ${kind}`, (user: FilesystemSession, path: string) => make(user, path, kind)] as const,
  ),
  ['link', (user, path, home) => user.link(`${home}/old`, path)],
  ['rename to', (user, path, home) => user.rename(`${home}/old`, path)],
];
const USING: readonly (readonly [string, (user: FilesystemSession, path: string, home: string) => Promise<unknown>])[] =
  [
    ['stat', (user, path) => user.stat(path)],
    ['chmod', (user, path) => user.chmod(path, 0o600)],
    ['chown', (user, path) => user.change(path, { uid: 1 })],
    ['set times', (user, path) => user.change(path, { modified: 'now' })],
    ['truncate', (user, path) => user.truncate(path, 0)],
    ['write', (user, path) => user.write(path, 'x')],
    ['read', (user, path) => user.read(path)],
    ['unlink', (user, path) => user.unlink(path)],
    ['rmdir', (user, path) => user.rmdir(path)],
    ['link', (user, path, home) => user.link(path, `${home}/new`)],
    ['rename', (user, path, home) => user.rename(path, `${home}/new`)],
  ];

async function make(user: FilesystemSession, path: string, kind: FileType): Promise<Attributes> {
  return kind === 'symlink' ? user.symlink('target', path) : user.make(path, kind, 0o644);
}

describe('POSIX, each operation', () => {
  let root: FilesystemSession;
  let device: MemoryDevice;
  let homes = 0;

  before(async () => {
    ({ root, device } = await newScene());
  });

  after(async () => {
    await root.filesystem.unmount();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
  });

  /** With something to use, something in the way, a loop and a directory that only its owner searches. */
  async function newHome(): Promise<string> {
    const home = `/home-${++homes}`;
    await root.mkdir(home, 0o777);
    await root.make(`${home}/old`);
    await root.symlink('loop', `${home}/loop`);
    await root.mkdir(`${home}/closed`, 0o700);
    await root.make(`${home}/closed/inside`);
    return home;
  }

  for (const [name, act] of [...MAKING, ...USING]) {
    it(`${name} is refused where the path leads nowhere`, async () => {
      const home = await newHome();
      const expected = [
        [`${home}/none/x`, 'ENOENT'],
        [`${home}/old/x`, 'ENOTDIR'],
        [`${home}/loop/x`, 'ELOOP'],
        [`${home}/${LONG}/x`, 'ENAMETOOLONG'],
        [`${home}/${LONG}`, 'ENAMETOOLONG'],
        [`/${'d/'.repeat(2100)}x`, 'ENAMETOOLONG'],
      ] as const;
      for (const [path, code] of expected) assert.equal(await codeOf(act(root, path, home)), code, path.slice(0, 40));
      assert.equal(await codeOf(act(root.as(1000), `${home}/closed/inside`, home)), 'EACCES');
      assert.deepEqual(await root.list(home), ['closed', 'loop', 'old']);
    });
  }

  for (const [name, act] of MAKING.filter(([each]) => each !== 'rename to')) {
    it(`${name} is refused where anything has the name, and changes no times`, async () => {
      const home = await newHome();
      for (const kind of KINDS) await make(root, `${home}/${kind}`, kind);
      const earlier = await root.stat(home);
      for (const kind of KINDS) assert.equal(await codeOf(act(root, `${home}/${kind}`, home)), 'EEXIST', kind);
      assert.deepEqual(await root.stat(home), earlier);
    });
  }

  for (const kind of KINDS) {
    it(`a ${kind} is renamed, linked, changed and removed as what it is`, async () => {
      const home = await newHome();
      const path = `${home}/it`;
      const { inode, type } = await make(root, path, kind);
      assert.equal(type, kind);
      assert.equal(await codeOf(root.link(path, `${home}/linked`)), kind === 'directory' ? 'EPERM' : undefined);
      await root.filesystem.setAttributes(root.credentials, inode, { uid: 5, gid: 6, mode: 0o1711 });
      const { uid, gid, mode } = await root.lstat(path);
      assert.deepEqual([uid, gid, mode], [5, 6, 0o1711]);
      await root.rename(path, `${home}/moved`);
      assert.deepEqual([(await root.lstat(`${home}/moved`)).inode, await codeOf(root.lstat(path))], [inode, 'ENOENT']);
      const size = root.filesystem.setAttributes(root.credentials, inode, { size: 0 });
      const refused = kind === 'directory' ? 'EISDIR' : 'EINVAL';
      assert.equal(await codeOf(size), kind === 'file' ? undefined : refused);
      const [right, wrong] = kind === 'directory' ? (['rmdir', 'unlink'] as const) : (['unlink', 'rmdir'] as const);
      assert.equal(await codeOf(root[wrong](`${home}/moved`)), kind === 'directory' ? 'EISDIR' : 'ENOTDIR');
      assert.equal(await codeOf(root[right](`${home}/moved`)), undefined);
      if (kind !== 'directory') assert.equal((await root.lstat(`${home}/linked`)).links, 1);
    });

    it(`a ${kind} is replaced by a rename of what may replace it`, async () => {
      for (const other of KINDS) {
        const home = await newHome();
        await make(root, `${home}/from`, other);
        await make(root, `${home}/to`, kind);
        const isMixed = (kind === 'directory') !== (other === 'directory');
        const expected = isMixed ? (kind === 'directory' ? 'EISDIR' : 'ENOTDIR') : undefined;
        assert.equal(await codeOf(root.rename(`${home}/from`, `${home}/to`)), expected, `${other} over ${kind}`);
      }
    });
  }

  it('as many symbolic links are followed as Linux follows', async () => {
    const home = await newHome();
    for (let index = 0; index <= LINKS_FOLLOWED_MAX; index += 1) {
      await root.symlink(index === 0 ? 'old' : `chain-${index - 1}`, `${home}/chain-${index}`);
    }
    assert.equal(await codeOf(root.stat(`${home}/chain-${LINKS_FOLLOWED_MAX - 1}`)), undefined);
    assert.equal(await codeOf(root.stat(`${home}/chain-${LINKS_FOLLOWED_MAX}`)), 'ELOOP');
  });

  it('nothing is made in a directory that was removed while it is in use', async () => {
    const home = await newHome();
    const { inode } = await root.mkdir(`${home}/gone`);
    root.filesystem.open(inode);
    await root.rmdir(`${home}/gone`);
    const node = { type: 'file', mode: 0o600 } as const;
    assert.equal(await codeOf(root.filesystem.create(root.credentials, inode, Buffer.from('x'), node)), 'ENOENT');
    const { inode: old } = await root.stat(`${home}/old`);
    assert.equal(await codeOf(root.filesystem.link(root.credentials, old, inode, Buffer.from('x'))), 'ENOENT');
    await root.filesystem.close(inode);
    await root.filesystem.whenIdle();
    assert.equal(await codeOf((async () => root.filesystem.attributes(inode))()), 'ESTALE');
  });

  it('who may write sets the present time, and the owner of a file that may not be written, too', async () => {
    const home = await newHome();
    await root.change(`${home}/old`, { uid: 1000 });
    await root.chmod(`${home}/old`, 0o066);
    assert.equal(await codeOf(root.as(1001).change(`${home}/old`, { modified: 'now', accessed: 'now' })), undefined);
    const time = { seconds: 1, nanoseconds: 999_999_999 };
    assert.equal(await codeOf(root.as(1001).change(`${home}/old`, { modified: time, accessed: 'now' })), 'EPERM');
    const { modified } = await root.as(1000).change(`${home}/old`, { modified: time });
    assert.deepEqual(modified, time);
  });

  it('a file that grows reads as zeros, and keeps none of what was cut off', async () => {
    const home = await newHome();
    await root.write(`${home}/old`, Buffer.alloc(10_000, 1));
    for (const size of [5000, 100, 3, 9000]) await root.truncate(`${home}/old`, size);
    const content = await root.read(`${home}/old`);
    assert.ok(content.equals(Buffer.concat([Buffer.alloc(3, 1)], 9000)));
  });
});

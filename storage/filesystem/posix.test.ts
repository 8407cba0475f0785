import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { checkFilesystem } from './check/check.ts';
import type { FileType } from './files/inode.ts';
import type { MemoryDevice } from './testing/memory-device.ts';
import { codeOf, newScene, type FilesystemSession } from './testing/filesystem-session.ts';

const LONG = 'n'.repeat(255);
const KINDS: FileType[] = ['file', 'directory', 'fifo', 'socket', 'block', 'character'];
const OWNER = 1000;
const OTHER = 1001;

type Action = (user: FilesystemSession) => Promise<unknown>;

/** An operation of a user, and the expected error. */
type Row = readonly [what: string, who: 'superuser' | 'owner' | 'other', action: Action, error: string | undefined];

describe('POSIX', () => {
  let root: FilesystemSession;
  let device: MemoryDevice;
  let owner: FilesystemSession;
  let other: FilesystemSession;

  before(async () => {
    const scene = await newScene();
    ({ root, device } = scene);
    owner = root.as(OWNER);
    other = root.as(OTHER);
    await root.chmod('/', 0o777);
  });

  after(async () => {
    await root.filesystem.unmount();
    const { findings } = await checkFilesystem(device);
    assert.deepEqual(findings, []);
  });

  let scenes = 0;
  /** A directory of the owner with a file, a directory, a full directory and links in it. */
  async function place(): Promise<string> {
    const home = `/scene-${++scenes}`;
    await owner.mkdir(home);
    await owner.make(`${home}/file`);
    await owner.mkdir(`${home}/empty`);
    await owner.mkdir(`${home}/full`);
    await owner.make(`${home}/full/inside`);
    await owner.symlink('file', `${home}/link`);
    await owner.symlink('loop', `${home}/loop`);
    await owner.symlink('nowhere', `${home}/dangling`);
    return home;
  }

  function table(name: string, rows: (home: string) => readonly Row[]): void {
    describe(name, () => {
      for (const [index, [what, who]] of rows('').entries()) {
        it(what, async () => {
          const home = await place();
          const [, , action, error] = rows(home)[index] as Row;
          const user = { superuser: root, owner, other }[who];
          assert.equal(await codeOf(action(user)), error);
        });
      }
    });
  }

  table('create', (home) => [
    ['makes a file', 'owner', (user) => user.make(`${home}/new`), undefined],
    ['refuses a name that is there', 'owner', (user) => user.make(`${home}/file`), 'EEXIST'],
    ['refuses the name of a dangling link', 'owner', (user) => user.make(`${home}/dangling`), 'EEXIST'],
    ['refuses . and ..', 'owner', (user) => user.make(`${home}/..`), 'EEXIST'],
    ['refuses an empty name', 'owner', (user) => user.make(`${home}/`), 'ENOENT'],
    ['takes a name of 255 bytes', 'owner', (user) => user.make(`${home}/${LONG}`), undefined],
    ['refuses one of 256', 'owner', (user) => user.make(`${home}/${LONG}n`), 'ENAMETOOLONG'],
    ['refuses a NUL in a name', 'owner', (user) => user.make(`${home}/a\0b`), 'EINVAL'],
    ['needs a parent that exists', 'owner', (user) => user.make(`${home}/none/new`), 'ENOENT'],
    ['needs a parent that is a directory', 'owner', (user) => user.make(`${home}/file/new`), 'ENOTDIR'],
    ['needs the right to write the parent', 'other', (user) => user.make(`${home}/new`), 'EACCES'],
    ['finds what exists before it misses the right', 'other', (user) => user.make(`${home}/file`), 'EEXIST'],
    ['does not follow a loop', 'owner', (user) => user.make(`${home}/loop/new`), 'ELOOP'],
    ['makes fifos for anybody', 'owner', (user) => user.make(`${home}/fifo`, 'fifo'), undefined],
    ['makes sockets for anybody', 'owner', (user) => user.make(`${home}/socket`, 'socket'), undefined],
    ['makes devices for the superuser', 'superuser', (user) => user.make(`${home}/disk`, 'block'), undefined],
    ['makes no devices', 'owner', (user) => user.make(`${home}/tty`, 'character'), 'EPERM'],
    ['refuses an empty target', 'owner', (user) => user.symlink('', `${home}/new`), 'ENOENT'],
    ['takes a target of 4095 bytes', 'owner', (user) => user.symlink('t'.repeat(4095), `${home}/new`), undefined],
    ['refuses one of 4096', 'owner', (user) => user.symlink('t'.repeat(4096), `${home}/new`), 'ENAMETOOLONG'],
  ]);

  table('link', (home) => [
    ['gives a file a second name', 'owner', (user) => user.link(`${home}/file`, `${home}/second`), undefined],
    ['links a symbolic link itself', 'owner', (user) => user.link(`${home}/link`, `${home}/second`), undefined],
    ['refuses a directory', 'superuser', (user) => user.link(`${home}/empty`, `${home}/second`), 'EPERM'],
    ['refuses a name that is there', 'owner', (user) => user.link(`${home}/file`, `${home}/link`), 'EEXIST'],
    ['needs the file', 'owner', (user) => user.link(`${home}/none`, `${home}/second`), 'ENOENT'],
    ['needs the right to write', 'other', (user) => user.link(`${home}/file`, `${home}/second`), 'EACCES'],
    ['refuses long names', 'owner', (user) => user.link(`${home}/file`, `${home}/${LONG}n`), 'ENAMETOOLONG'],
    ['needs a directory to link in', 'owner', (user) => user.link(`${home}/file`, `${home}/file/x`), 'ENOTDIR'],
  ]);

  table('unlink', (home) => [
    ['removes a file', 'owner', (user) => user.unlink(`${home}/file`), undefined],
    ['removes a symbolic link, not its target', 'owner', (user) => user.unlink(`${home}/link`), undefined],
    ['refuses a directory', 'owner', (user) => user.unlink(`${home}/empty`), 'EISDIR'],
    ['needs the file', 'owner', (user) => user.unlink(`${home}/none`), 'ENOENT'],
    ['needs the right to write the parent', 'other', (user) => user.unlink(`${home}/file`), 'EACCES'],
    ['refuses long names', 'owner', (user) => user.unlink(`${home}/${LONG}n`), 'ENAMETOOLONG'],
    ['needs a parent that is a directory', 'owner', (user) => user.unlink(`${home}/file/x`), 'ENOTDIR'],
  ]);

  table('rmdir', (home) => [
    ['removes an empty directory', 'owner', (user) => user.rmdir(`${home}/empty`), undefined],
    ['refuses one that is not empty', 'owner', (user) => user.rmdir(`${home}/full`), 'ENOTEMPTY'],
    ['refuses a file', 'owner', (user) => user.rmdir(`${home}/file`), 'ENOTDIR'],
    ['refuses a link to a directory', 'owner', (user) => user.rmdir(`${home}/link`), 'ENOTDIR'],
    ['refuses .', 'owner', (user) => user.rmdir(`${home}/empty/.`), 'EINVAL'],
    ['refuses ..', 'owner', (user) => user.rmdir(`${home}/empty/..`), 'ENOTEMPTY'],
    ['needs the directory', 'owner', (user) => user.rmdir(`${home}/none`), 'ENOENT'],
    ['needs the right to write the parent', 'other', (user) => user.rmdir(`${home}/empty`), 'EACCES'],
  ]);

  table('rename', (home) => [
    ['moves a file', 'owner', (user) => user.rename(`${home}/file`, `${home}/empty/moved`), undefined],
    ['replaces a file', 'owner', (user) => user.rename(`${home}/file`, `${home}/full/inside`), undefined],
    ['replaces a symbolic link', 'owner', (user) => user.rename(`${home}/file`, `${home}/dangling`), undefined],
    ['moves a directory', 'owner', (user) => user.rename(`${home}/full`, `${home}/empty/full`), undefined],
    ['replaces an empty directory', 'owner', (user) => user.rename(`${home}/full`, `${home}/empty`), undefined],
    ['refuses to replace a full one', 'owner', (user) => user.rename(`${home}/empty`, `${home}/full`), 'ENOTEMPTY'],
    ['refuses a directory over a file', 'owner', (user) => user.rename(`${home}/empty`, `${home}/file`), 'ENOTDIR'],
    ['refuses a file over a directory', 'owner', (user) => user.rename(`${home}/file`, `${home}/empty`), 'EISDIR'],
    ['refuses a directory into itself', 'owner', (user) => user.rename(`${home}/full`, `${home}/full/x`), 'EINVAL'],
    ['refuses . and ..', 'owner', (user) => user.rename(`${home}/full/.`, `${home}/x`), 'EINVAL'],
    ['needs the file', 'owner', (user) => user.rename(`${home}/none`, `${home}/x`), 'ENOENT'],
    ['needs the right to write', 'other', (user) => user.rename(`${home}/file`, `${home}/x`), 'EACCES'],
    ['refuses long names', 'owner', (user) => user.rename(`${home}/file`, `${home}/${LONG}n`), 'ENAMETOOLONG'],
    ['does nothing for a file and itself', 'owner', (user) => user.rename(`${home}/file`, `${home}/file`), undefined],
  ]);

  table('chmod and chown', (home) => [
    ['the owner changes the mode', 'owner', (user) => user.chmod(`${home}/file`, 0o600), undefined],
    ['no other user does', 'other', (user) => user.chmod(`${home}/file`, 0o777), 'EPERM'],
    ['the superuser does', 'superuser', (user) => user.chmod(`${home}/file`, 0o777), undefined],
    ['the owner does not give a file away', 'owner', (user) => user.change(`${home}/file`, { uid: OTHER }), 'EPERM'],
    ['the superuser does', 'superuser', (user) => user.change(`${home}/file`, { uid: OTHER }), undefined],
    [
      'the owner chooses among own groups',
      'owner',
      (user) => user.as(OWNER, OWNER, [7]).change(`${home}/file`, { gid: 7 }),
      undefined,
    ],
    ['and among no others', 'owner', (user) => user.change(`${home}/file`, { gid: 8 }), 'EPERM'],
    [
      'to keep what is there is allowed',
      'owner',
      (user) => user.change(`${home}/file`, { uid: OWNER, gid: OWNER }),
      undefined,
    ],
    ['but not for others', 'other', (user) => user.change(`${home}/file`, { gid: OTHER }), 'EPERM'],
  ]);

  table('contents and times', (home) => [
    ['the owner writes', 'owner', (user) => user.write(`${home}/file`, 'x'), undefined],
    ['others do not, if the mode does not say so', 'other', (user) => user.write(`${home}/file`, 'x'), 'EACCES'],
    ['others read', 'other', (user) => user.read(`${home}/file`), undefined],
    ['a directory is not written', 'owner', (user) => user.write(`${home}/empty`, 'x'), 'EISDIR'],
    ['the owner cuts off', 'owner', (user) => user.truncate(`${home}/file`, 10), undefined],
    ['others do not', 'other', (user) => user.truncate(`${home}/file`, 10), 'EACCES'],
    ['a directory has no size to set', 'owner', (user) => user.truncate(`${home}/empty`, 10), 'EISDIR'],
    ['a file has 16 TiB at most', 'owner', (user) => user.truncate(`${home}/file`, 2 ** 44 + 1), 'EFBIG'],
    ['and that much', 'owner', (user) => user.truncate(`${home}/file`, 2 ** 44), undefined],
    [
      'the owner sets any time',
      'owner',
      (user) => user.change(`${home}/file`, { modified: { seconds: -5, nanoseconds: 7 } }),
      undefined,
    ],
    [
      'others set none',
      'other',
      (user) => user.change(`${home}/file`, { modified: { seconds: 5, nanoseconds: 7 } }),
      'EPERM',
    ],
    [
      'nor the present one, without the right to write',
      'other',
      (user) => user.change(`${home}/file`, { modified: 'now' }),
      'EACCES',
    ],
    ['a loop is found', 'owner', (user) => user.stat(`${home}/loop`), 'ELOOP'],
    ['a dangling link leads nowhere', 'owner', (user) => user.stat(`${home}/dangling`), 'ENOENT'],
    ['but is there itself', 'owner', (user) => user.lstat(`${home}/dangling`), undefined],
    ['a long path is refused', 'owner', (user) => user.stat(`/${'a/'.repeat(2048)}`), 'ENAMETOOLONG'],
  ]);

  it('a path without the right to search is closed', async () => {
    const home = await place();
    await owner.chmod(home, 0o600);
    assert.equal(await codeOf(owner.stat(`${home}/file`)), 'EACCES');
    assert.equal(await codeOf(root.stat(`${home}/file`)), undefined);
    await owner.chmod(home, 0o100);
    assert.equal(await codeOf(owner.stat(`${home}/file`)), undefined);
    assert.equal(await codeOf(owner.list(home)), 'EACCES');
  });

  it('in a sticky directory only the owners of file and directory remove', async () => {
    const home = await place();
    await owner.chmod(home, 0o1777);
    await other.make(`${home}/theirs`);
    const third = root.as(1002);
    assert.equal(await codeOf(third.unlink(`${home}/theirs`)), 'EPERM');
    assert.equal(await codeOf(third.rename(`${home}/theirs`, `${home}/mine`)), 'EPERM');
    assert.equal(await codeOf(other.unlink(`${home}/file`)), 'EPERM');
    assert.equal(await codeOf(other.rename(`${home}/theirs`, `${home}/file`)), 'EPERM');
    assert.equal(await codeOf(third.rmdir(`${home}/empty`)), 'EPERM');
    assert.equal(await codeOf(other.rename(`${home}/theirs`, `${home}/own`)), undefined);
    assert.equal(await codeOf(owner.unlink(`${home}/own`)), undefined);
  });

  it('moving a directory elsewhere needs the right to write it', async () => {
    const home = await place();
    await root.change(`${home}/empty`, { uid: OTHER });
    assert.equal(await codeOf(owner.rename(`${home}/empty`, `${home}/full/empty`)), 'EACCES');
    assert.equal(await codeOf(owner.rename(`${home}/empty`, `${home}/renamed`)), undefined);
  });

  it('set-id bits are cleared by a write or a change of owner', async () => {
    const home = await place();
    await owner.chmod(`${home}/file`, 0o6777);
    await other.write(`${home}/file`, 'x');
    assert.equal((await owner.stat(`${home}/file`)).mode, 0o777);
    await owner.chmod(`${home}/file`, 0o6777);
    await root.write(`${home}/file`, 'x');
    assert.equal((await owner.stat(`${home}/file`)).mode, 0o6777, 'the superuser keeps them');
    await other.truncate(`${home}/file`, 0);
    assert.equal((await owner.stat(`${home}/file`)).mode, 0o777);
    await owner.chmod(`${home}/file`, 0o6777);
    await root.change(`${home}/file`, { uid: OTHER });
    assert.equal((await owner.stat(`${home}/file`)).mode, 0o777);
    await root.chmod(`${home}/file`, 0o2644);
    await root.change(`${home}/file`, { uid: OWNER });
    assert.equal((await owner.stat(`${home}/file`)).mode, 0o2644, 'without execution the bit means something else');
  });

  it('set-group-id of a group that one is not in is not kept', async () => {
    const home = await place();
    await root.change(`${home}/file`, { gid: 77 });
    assert.equal((await owner.chmod(`${home}/file`, 0o2755)).mode, 0o755);
    assert.equal((await owner.as(OWNER, OWNER, [77]).chmod(`${home}/file`, 0o2755)).mode, 0o2755);
  });

  it('in a set-group-id directory the group is inherited, and by directories the bit', async () => {
    const home = await place();
    await root.change(home, { gid: 55 });
    await root.chmod(home, 0o2777);
    const file = await other.make(`${home}/theirs`);
    const directory = await other.mkdir(`${home}/below`);
    assert.equal(file.gid, 55);
    assert.equal(directory.gid, 55);
    assert.equal(directory.mode, 0o2755);
  });

  it('counts links', async () => {
    const home = await place();
    assert.equal((await owner.stat(home)).links, 4);
    await owner.mkdir(`${home}/more`);
    assert.equal((await owner.stat(home)).links, 5);
    await owner.rename(`${home}/more`, `${home}/full/more`);
    assert.equal((await owner.stat(home)).links, 4);
    assert.equal((await owner.stat(`${home}/full`)).links, 3);
    assert.equal((await owner.stat(`${home}/full/more/..`)).inode, (await owner.stat(`${home}/full`)).inode);
    await owner.link(`${home}/file`, `${home}/second`);
    assert.equal((await owner.stat(`${home}/file`)).links, 2);
    await owner.unlink(`${home}/file`);
    assert.equal((await owner.stat(`${home}/second`)).links, 1);
  });

  it('moves times and the change counter as POSIX says', async () => {
    const home = await place();
    const changes = async (path: string, work: () => Promise<unknown>): Promise<string[]> => {
      const earlier = await owner.lstat(path);
      await work();
      const later = await owner.lstat(path);
      const moved = (['accessed', 'modified', 'changed'] as const).filter(
        (name) => earlier[name].nanoseconds !== later[name].nanoseconds,
      );
      return later.change > earlier.change ? [...moved, 'counter'] : moved;
    };
    const both = ['modified', 'changed', 'counter'];
    const attributes = ['changed', 'counter'];
    assert.deepEqual(await changes(home, () => owner.make(`${home}/new`)), both);
    assert.deepEqual(await changes(home, () => owner.unlink(`${home}/new`)), both);
    assert.deepEqual(await changes(home, () => owner.rename(`${home}/link`, `${home}/link2`)), both);
    assert.deepEqual(await changes(`${home}/file`, () => owner.write(`${home}/file`, 'abc')), both);
    assert.deepEqual(await changes(`${home}/file`, () => owner.truncate(`${home}/file`, 1)), both);
    assert.deepEqual(await changes(`${home}/file`, () => owner.chmod(`${home}/file`, 0o600)), attributes);
    assert.deepEqual(await changes(`${home}/file`, () => owner.link(`${home}/file`, `${home}/l`)), attributes);
    assert.deepEqual(await changes(`${home}/l`, () => owner.unlink(`${home}/file`)), attributes);
    assert.deepEqual(
      await changes(`${home}/l`, () =>
        owner.rename(`${home}/l`, `${home}/m`).then(() => owner.link(`${home}/m`, `${home}/l`)),
      ),
      attributes,
    );
    assert.deepEqual(await changes(home, () => owner.write(`${home}/l`, 'abc')), []);
    assert.deepEqual(await changes(home, () => codeOf(owner.mkdir(`${home}/full`))), []);
  });

  it('keeps every kind of file', async () => {
    const home = await place();
    for (const kind of KINDS) await root.make(`${home}/kind-${kind}`, kind, 0o640);
    for (const kind of KINDS) {
      const { type, mode } = await root.lstat(`${home}/kind-${kind}`);
      assert.deepEqual({ type, mode }, { type: kind, mode: 0o640 });
    }
    const { inode } = await root.stat(home);
    const node = { type: 'character', mode: 0o600, device: { major: 4_000_000_000, minor: 3 } } as const;
    const made = await root.filesystem.create(root.credentials, inode, Buffer.from('tty'), node);
    assert.deepEqual(made.device, node.device);
  });

  it('keeps names of any bytes apart', async () => {
    const home = await place();
    const { inode } = await root.stat(`${home}/empty`);
    const names = [
      Buffer.of(0xff, 0xfe),
      Buffer.of(0xc3, 0xa9),
      Buffer.from('e\u0301'),
      Buffer.from('E'),
      Buffer.from('e'),
      Buffer.of(1),
    ];
    for (const name of names)
      await root.filesystem.create(root.credentials, inode, name, { type: 'file', mode: 0o600 });
    const { entries } = await root.filesystem.readDirectory(root.credentials, inode, 0, 100);
    const sorted = (list: readonly Buffer[]): string[] => list.map((name) => name.toString('hex')).sort();
    assert.deepEqual(sorted(entries.map(({ name }) => name)), sorted(names));
  });
});

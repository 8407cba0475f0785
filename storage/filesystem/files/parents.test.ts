import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkFilesystem } from '../check/check.ts';
import { codeOf, newScene, type FilesystemSession } from '../testing/filesystem-session.ts';

async function pathOf({ filesystem }: FilesystemSession, inode: number): Promise<string> {
  return (await filesystem.pathOf(inode)).toString();
}

describe('the path of an inode', () => {
  it('follows it through renames, also of the directories above', async () => {
    const { root, device } = await newScene();
    for (const path of ['/a', '/a/b', '/c']) await root.mkdir(path);
    const { inode } = await root.make('/a/b/file');
    assert.equal(await pathOf(root, inode), '/a/b/file');
    await root.rename('/a/b/file', '/a/b/other');
    assert.equal(await pathOf(root, inode), '/a/b/other');
    await root.rename('/a/b', '/c/moved');
    assert.equal(await pathOf(root, inode), '/c/moved/other');
    await root.make('/c/victim');
    await root.rename('/c/moved/other', '/c/victim');
    assert.equal(await pathOf(root, inode), '/c/victim');
    assert.equal(await pathOf(root, root.filesystem.root), '/');
    await root.filesystem.unmount();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
  });

  it('is that of one of its names, as long as there is one', async () => {
    const { root, device } = await newScene();
    const { inode } = await root.make('/first');
    const paths = ['/first'];
    for (let index = 0; index < 20; index += 1) {
      await root.mkdir(`/${index}`);
      // The same name in every directory, and two in each.
      for (const name of ['same', `own-${index}`]) {
        await root.link('/first', `/${index}/${name}`);
        paths.push(`/${index}/${name}`);
      }
    }
    while (paths.length > 1) {
      const path = await pathOf(root, inode);
      assert.ok(paths.includes(path));
      await root.unlink(path);
      paths.splice(paths.indexOf(path), 1);
      const moved = paths.shift() as string;
      await root.rename(moved, `${moved}-moved`);
      paths.push(`${moved}-moved`);
    }
    await root.filesystem.sync();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
    root.filesystem.open(inode);
    await root.unlink(paths[0] as string);
    assert.equal(await codeOf((async () => root.filesystem.pathOf(inode))()), 'ENOENT');
    await root.filesystem.close(inode);
    await root.filesystem.whenIdle();
    assert.equal(await codeOf((async () => root.filesystem.pathOf(inode))()), 'ESTALE');
    await root.filesystem.unmount();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
  });
});

describe('files in the order of their numbers', () => {
  it('are listed page by page with their paths, each once', async () => {
    const { root, device } = await newScene();
    const expected = new Map<number, string>();
    for (let index = 0; index < 40; index += 1) {
      const directory = index % 4 === 0 ? '' : `/d${index - (index % 4)}`;
      if (index % 4 === 1) await root.mkdir(directory);
      const { inode } = await root.make(`${directory}/file-${index}`);
      expected.set(inode, `${directory}/file-${index}`);
      if (index % 7 === 0) await root.symlink('x', `/link-${index}`);
    }
    await root.link('/file-0', '/linked');
    // Items of one inode fill several leaves.
    for (let index = 0; index < 50; index += 1) await root.setXattr('/file-4', `user.${index}`, 'v'.repeat(1500));
    const orphan = await root.make('/orphan');
    root.filesystem.open(orphan.inode);
    await root.unlink('/orphan');
    for (const max of [1, 7, 1000]) {
      const found = new Map<number, string>();
      for (let after = 0; ;) {
        const page = await root.filesystem.listInodes(after, max);
        for (const { attributes, path } of page) found.set(attributes.inode, path.toString());
        const last = page.at(-1);
        if (last === undefined) break;
        assert.ok(last.attributes.inode > after && page.length <= max);
        after = last.attributes.inode;
      }
      assert.ok(['/file-0', '/linked'].includes(found.get([...expected.keys()][0] as number) ?? ''));
      found.set([...expected.keys()][0] as number, '/file-0');
      assert.deepEqual(found, expected);
    }
    await root.filesystem.close(orphan.inode);
    await root.filesystem.unmount();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
  });
});

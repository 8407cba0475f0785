import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkFilesystem } from '../check/check.ts';
import { type Acl, encodeAcl, parseAcl } from './acl.ts';
import { codeOf, newScene, type FilesystemSession } from '../testing/filesystem-session.ts';

const ACCESS = 'system.posix_acl_access';
const DEFAULT = 'system.posix_acl_default';

/** In the notation of `setfacl`: `u::rwx,u:1000:r-x,g::r--,m::rwx,o::---`. */
function aclOf(text: string): Acl {
  return text.split(',').map((part) => {
    const [letter, id = '', rights = ''] = part.split(':');
    const tags = {
      u: id === '' ? 'owner' : 'user',
      g: id === '' ? 'owning-group' : 'group',
      m: 'mask',
      o: 'other',
    } as const;
    const permissions = ['r', 'w', 'x'].reduce(
      (sum, right, index) => sum + (rights.includes(right) ? 4 >> index : 0),
      0,
    );
    return { tag: tags[letter as keyof typeof tags], id: Number(id), permissions };
  });
}

async function aclText(user: FilesystemSession, path: string, name: string): Promise<Buffer> {
  return user.filesystem.xattrs.get(user.credentials, (await user.stat(path)).inode, Buffer.from(name));
}

describe('POSIX ACLs', () => {
  it('decide who may do what', async () => {
    const { root, device } = await newScene();
    await root.make('/file', 'file', 0o640);
    await root.change('/file', { uid: 1000, gid: 100 });
    const acl = 'u::rw-,u:1001:rwx,u:1002:---,g::r--,g:200:rw-,g:300:--x,m::rw-,o::r--';
    await root.setXattr('/file', ACCESS, encodeAcl(aclOf(acl)));
    const rights = (uid: number, gid: number, groups: number[] = []) => root.as(uid, gid, groups).access('/file', 7);
    assert.equal(await rights(1000, 1), 6, 'the owner, whom the mask does not limit');
    assert.equal(await rights(1001, 1), 6, 'a named user, limited by the mask');
    assert.equal(await rights(1002, 200), 0, 'a named user is not helped by a group');
    assert.equal(await rights(5, 100), 4, 'the owning group');
    assert.equal(await rights(5, 200), 6, 'a named group');
    assert.equal(await rights(5, 300), 0, 'a named group that the mask leaves nothing');
    assert.equal(await rights(5, 5, [300, 200]), 6, 'one of several groups is enough');
    assert.equal(await rights(5, 5), 4, 'others');
    assert.equal((await root.stat('/file')).mode, 0o664, 'the mode shows the mask');
    await root.chmod('/file', 0o600);
    assert.equal(await rights(1001, 1), 0, 'chmod changes the mask');
    assert.equal(await rights(5, 200), 0);
    await root.chmod('/file', 0o660);
    assert.equal(await rights(1001, 1), 6);
    await root.filesystem.unmount();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
  });

  it('are inherited from the directory', async () => {
    const { root } = await newScene();
    await root.mkdir('/shared');
    await root.setXattr('/shared', DEFAULT, encodeAcl(aclOf('u::rwx,u:1001:rwx,g::r-x,m::rwx,o::---')));
    const file = await root.make('/shared/file', 'file', 0o666);
    assert.equal(file.mode, 0o660, 'the mode that was asked for limits what is inherited');
    assert.equal(await root.as(1001).access('/shared/file', 7), 6);
    assert.equal(await root.as(1002).access('/shared/file', 7), 0);
    await root.mkdir('/shared/below', 0o777);
    assert.deepEqual(await aclText(root, '/shared/below', DEFAULT), await aclText(root, '/shared', DEFAULT));
    assert.equal((await root.make('/shared/below/deep', 'file', 0o600)).mode, 0o600);
    await root.symlink('file', '/shared/link');
    const { inode } = await root.lstat('/shared/link');
    assert.deepEqual(await root.filesystem.xattrs.list(root.credentials, inode), []);
  });

  it('are the owner’s to set, and have to make sense', async () => {
    const { root } = await newScene();
    await root.make('/file', 'file', 0o666);
    const valid = encodeAcl(aclOf('u::rw-,g::r--,o::r--'));
    assert.equal(await codeOf(root.as(1).setXattr('/file', ACCESS, valid)), 'EPERM');
    assert.equal(await codeOf(root.setXattr('/file', DEFAULT, valid)), 'EACCES', 'only directories have a default one');
    for (const bad of ['u::rw-,g::r--', 'u::rw-,u:7:r--,g::r--,o::r--', 'u::rw-,u::r--,g::r--,o::r--']) {
      assert.equal(await codeOf(root.setXattr('/file', ACCESS, encodeAcl(aclOf(bad)))), 'EINVAL', bad);
    }
    for (const bad of [Buffer.alloc(0), Buffer.alloc(3), valid.subarray(0, 13), Buffer.alloc(12, 0xff)]) {
      assert.equal(await codeOf(root.setXattr('/file', ACCESS, bad)), 'EINVAL');
    }
    await root.setXattr('/file', ACCESS, valid);
    assert.equal((await root.stat('/file')).mode, 0o644);
    assert.deepEqual(parseAcl(valid).length, 3);
  });
});

describe('extended attributes', () => {
  it('are kept up to 64 KiB, listed and removed', async () => {
    const { root, device } = await newScene();
    const { inode } = await root.make('/file');
    const { filesystem, credentials } = root;
    const large = Buffer.alloc(65_536, 'x');
    await root.setXattr('/file', 'user.large', large);
    await root.setXattr('/file', 'user.empty', '');
    await root.setXattr('/file', `user.${'n'.repeat(250)}`, 'long name');
    assert.deepEqual(await filesystem.xattrs.get(credentials, inode, Buffer.from('user.large')), large);
    assert.equal((await filesystem.xattrs.get(credentials, inode, Buffer.from('user.empty'))).length, 0);
    await root.setXattr('/file', 'user.large', 'short');
    assert.equal((await filesystem.xattrs.get(credentials, inode, Buffer.from('user.large'))).toString(), 'short');
    assert.equal(await codeOf(root.setXattr('/file', 'user.large', Buffer.alloc(65_537))), 'ERANGE');
    assert.equal(await codeOf(root.setXattr('/file', `user.${'n'.repeat(251)}`, '')), 'ERANGE');
    assert.equal((await filesystem.xattrs.list(credentials, inode)).length, 3);
    await filesystem.xattrs.remove(credentials, inode, Buffer.from('user.large'));
    assert.equal(
      await codeOf((async () => filesystem.xattrs.get(credentials, inode, Buffer.from('user.large')))()),
      'ENODATA',
    );
    assert.equal(await codeOf(filesystem.xattrs.remove(credentials, inode, Buffer.from('user.large'))), 'ENODATA');
    await root.filesystem.unmount();
    assert.deepEqual((await checkFilesystem(device)).findings, []);
  });

  it('belong to users who may write the file, or to the superuser', async () => {
    const { root } = await newScene();
    const { inode } = await root.make('/file', 'file', 0o644);
    await root.symlink('file', '/link');
    const other = root.as(1000);
    assert.equal(await codeOf(other.setXattr('/file', 'user.a', '1')), 'EACCES');
    assert.equal(await codeOf(other.setXattr('/file', 'trusted.a', '1')), 'EPERM');
    assert.equal(await codeOf(other.setXattr('/file', 'system.other', '1')), 'EINVAL');
    await root.setXattr('/file', 'trusted.a', '1');
    await root.setXattr('/file', 'user.a', '1');
    assert.equal((await other.filesystem.xattrs.list(other.credentials, inode)).toString(), 'user.a');
    const link = (await root.lstat('/link')).inode;
    const set = root.filesystem.xattrs.set(root.credentials, link, Buffer.from('user.a'), Buffer.from('1'));
    assert.equal(await codeOf(set), 'EPERM');
    const twice = (mode: 'create' | 'replace', name: string) =>
      root.filesystem.xattrs.set(root.credentials, inode, Buffer.from(name), Buffer.from('2'), mode);
    assert.equal(await codeOf(twice('create', 'user.a')), 'EEXIST');
    assert.equal(await codeOf(twice('replace', 'user.b')), 'ENODATA');
    assert.equal(await codeOf(twice('replace', 'user.a')), undefined);
  });
});

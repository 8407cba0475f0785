import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Filesystem } from '../filesystem.ts';
import { addExtent } from '../contents/extents.ts';
import { type Inode, loadInode, saveInode } from '../files/inode.ts';
import { addParent } from '../files/parents.ts';
import { chargeQuota } from '../files/quotas.ts';
import { KIND, OWN_INODE } from '../store/layout.ts';
import { FilesystemStore } from '../store/filesystem-store.ts';
import type { Transaction } from '../store/transaction.ts';
import { codeOf, newScene } from '../testing/filesystem-session.ts';
import { checkFilesystem } from './check.ts';

/** A filesystem with a few files, then something wrong with it. */
async function findingsAfter(
  damage: (transaction: Transaction, file: Inode, directory: Inode, store: FilesystemStore) => void,
): Promise<readonly string[]> {
  const { root, device } = await newScene();
  await root.mkdir('/directory');
  await root.make('/directory/file');
  await root.write('/directory/file', Buffer.alloc(20_000, 1));
  const [file, directory] = [await root.stat('/directory/file'), await root.stat('/directory')];
  await root.filesystem.unmount();
  assert.deepEqual((await checkFilesystem(device)).findings, []);
  const store = await FilesystemStore.open(device);
  await store.change((transaction) => {
    damage(transaction, loadInode(transaction, file.inode), loadInode(transaction, directory.inode), store);
  });
  await store.close();
  return (await checkFilesystem(device)).findings;
}

describe('the check of a filesystem finds', () => {
  it('a block that two files own', async () => {
    const findings = await findingsAfter((transaction, file) => {
      addExtent(transaction, file.inode, 100, { start: 500, count: 1 }, false);
      addExtent(transaction, file.inode, 200, { start: 500, count: 1 }, false);
      saveInode(transaction, { ...file, blocks: file.blocks + 2 });
      chargeQuota(transaction, file, 8192, 0);
    });
    assert.ok(
      findings.some((finding) => finding.includes('belong to others')),
      String(findings),
    );
    assert.ok(
      findings.some((finding) => finding.includes('free in the space map')),
      String(findings),
    );
  });

  it('blocks that belong to nothing', async () => {
    const findings = await findingsAfter((transaction, _file, _directory, store) => {
      transaction.claim(store.space.reserve(5, 0), false);
    });
    assert.ok(
      findings.some((finding) => finding.includes('belong to nothing')),
      String(findings),
    );
  });

  it('a link that is not counted', async () => {
    const findings = await findingsAfter((transaction, file) => saveInode(transaction, { ...file, links: 2 }));
    assert.deepEqual(findings.length, 1);
    assert.match(findings[0] ?? '', /counts 2 links; there are 1/);
  });

  it('a directory that leads nowhere', async () => {
    const findings = await findingsAfter((transaction, _file, directory) => {
      saveInode(transaction, { ...directory, parent: directory.inode });
    });
    assert.ok(
      findings.some((finding) => finding.includes('cannot be reached')),
      String(findings),
    );
  });

  it('a name without a file, and a file without a name', async () => {
    const findings = await findingsAfter((transaction, file) => {
      transaction.delete(file.inode, KIND.attributes, 0);
    });
    assert.ok(
      findings.some((finding) => finding.includes('does not exist')),
      String(findings),
    );
    assert.ok(
      findings.some((finding) => finding.includes('no attributes')),
      String(findings),
    );
  });

  it('a quota that is not the sum of its files', async () => {
    const findings = await findingsAfter((transaction, file) => chargeQuota(transaction, file, 1, 0));
    assert.ok(
      findings.some((finding) => finding.startsWith('user 0 has')),
      String(findings),
    );
    assert.ok(
      findings.some((finding) => finding.startsWith('group 0 has')),
      String(findings),
    );
  });

  it('an orphan that is none', async () => {
    const findings = await findingsAfter((transaction, file) => {
      transaction.put(OWN_INODE, KIND.orphan, file.inode, Buffer.alloc(0));
    });
    assert.ok(
      findings.some((finding) => finding.includes('links')),
      String(findings),
    );
  });

  it('a name that its inode does not know of, and a link to no name', async () => {
    const findings = await findingsAfter((transaction, file) => saveInode(transaction, { ...file, cookie: 0 }));
    assert.match(findings.join(), /has no link to its name/);
    const others = await findingsAfter((transaction, file) => {
      addParent(transaction, file, { parent: file.parent, cookie: file.cookie + 1 });
      addParent(transaction, file, file);
    });
    assert.match(others.join(), /does not name it there/);
    assert.match(others.join(), /two links to one name/);
  });

  it('an archived file that has contents, and one without a record', async () => {
    const findings = await findingsAfter((transaction, file) => saveInode(transaction, { ...file, isArchived: true }));
    assert.match(findings.join(), /counts 1 archives; there are 0/);
    assert.match(findings.join(), /is archived, but still has/);
  });

  it('a node that was damaged or exchanged below', async () => {
    const { root, device } = await newScene();
    for (let index = 0; index < 200; index += 1) await root.make(`/${index}`);
    await root.filesystem.unmount();
    const nodes: number[] = [];
    for (let block = 0; block < device.bytes.length / 4096; block += 1) {
      if (device.bytes.toString('latin1', block * 4096, block * 4096 + 4) === 'GRND') nodes.push(block);
    }
    const good = Buffer.from(device.bytes);
    const [one, other] = [nodes.at(-1)! * 4096, nodes.at(-2)! * 4096];
    device.bytes[one + 5000] = (device.bytes[one + 5000] ?? 0) ^ 1;
    assert.match((await checkFilesystem(device)).findings.join(), /node at block \d+ is damaged/);
    const mounted = await Filesystem.mount(device);
    const readAll = async () => [await root.in(mounted).list('/'), await mounted.listInodes(0, 1000)];
    assert.equal(await codeOf(readAll()), 'EIO');
    good.copy(device.bytes);
    good.copy(device.bytes, one, other, other + 8192);
    assert.match((await checkFilesystem(device)).findings.join(), /node at block \d+ is damaged/);
  });
});

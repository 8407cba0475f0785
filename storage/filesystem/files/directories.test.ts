import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkFilesystem } from '../check/check.ts';
import { Filesystem } from '../filesystem.ts';
import { addEntry, findEntry, listEntries, removeEntry } from './entries.ts';
import { hashName } from './names.ts';
import { formatStore } from '../store/format.ts';
import { FilesystemStore } from '../store/filesystem-store.ts';
import { MemoryDevice } from '../testing/memory-device.ts';
import { SUPERUSER } from '../testing/operations.ts';

const MIB = 1024 * 1024;
const MANY = process.env.GRANARY_TORTURE === '1' ? 1_000_000 : 2000;
const TOGETHER = 500;

function nameOf(index: number): Buffer {
  return Buffer.from(`a file with the number ${index}`);
}

async function makeMany(filesystem: Filesystem, directory: number, from: number, until: number): Promise<void> {
  for (let first = from; first < until; first += TOGETHER) {
    const names = Array.from({ length: Math.min(TOGETHER, until - first) }, (_, index) => nameOf(first + index));
    await Promise.all(
      names.map((name) => filesystem.create(SUPERUSER, directory, name, { type: 'file', mode: 0o600 })),
    );
  }
}

async function listAll(filesystem: Filesystem, directory: number, from = 0): Promise<string[]> {
  const found: string[] = [];
  for (let cookie = from, isEnd = false; !isEnd;) {
    const page = await filesystem.readDirectory(SUPERUSER, directory, cookie, 1000);
    for (const entry of page.entries) {
      found.push(entry.name.toString());
      cookie = entry.cookie;
    }
    isEnd = page.isEnd;
  }
  return found;
}

describe('directories', () => {
  it(`hold ${MANY} names, found and listed also with a cache much smaller than they are`, async () => {
    const device = new MemoryDevice(MANY > 100_000 ? 1024 * MIB : 64 * MIB);
    await Filesystem.format(device);
    const filesystem = await Filesystem.mount(device);
    const { inode } = await filesystem.create(SUPERUSER, filesystem.root, Buffer.from('many'), {
      type: 'directory',
      mode: 0o755,
    });
    await makeMany(filesystem, inode, 0, MANY);
    await filesystem.unmount();
    const again = await Filesystem.mount(device, { cacheBytes: MIB });
    for (let index = 0; index < MANY; index += 97) await again.lookup(SUPERUSER, inode, nameOf(index));
    const listed = await listAll(again, inode);
    assert.equal(listed.length, MANY);
    assert.equal(new Set(listed).size, MANY);
    for (let index = 0; index < MANY; index += 3) await again.unlink(SUPERUSER, inode, nameOf(index));
    assert.equal((await listAll(again, inode)).length, MANY - Math.ceil(MANY / 3));
    await again.unmount();
    const { findings, inodes } = await checkFilesystem(device);
    assert.deepEqual(findings, []);
    assert.equal(inodes, MANY - Math.ceil(MANY / 3) + 2);
  });

  it('keep cookies good while names come and go, and over a mount', async () => {
    const device = new MemoryDevice(16 * MIB);
    await Filesystem.format(device);
    const filesystem = await Filesystem.mount(device);
    await makeMany(filesystem, filesystem.root, 0, 1000);
    const first = await filesystem.readDirectory(SUPERUSER, filesystem.root, 0, 400);
    const cookie = first.entries.at(-1)!.cookie;
    const before = await listAll(filesystem, filesystem.root, cookie);
    assert.equal(before.length, 600);
    await makeMany(filesystem, filesystem.root, 1000, 1500);
    for (const { name } of first.entries) await filesystem.unlink(SUPERUSER, filesystem.root, name);
    await filesystem.unmount();
    const again = await Filesystem.mount(device);
    const rest = new Set(await listAll(again, again.root, cookie));
    for (const name of before) assert.ok(rest.has(name), 'what was there all the time is listed once');
  });

  it('are emptied while they are listed', async () => {
    const device = new MemoryDevice(16 * MIB);
    await Filesystem.format(device);
    const filesystem = await Filesystem.mount(device);
    await makeMany(filesystem, filesystem.root, 0, 600);
    let removed = 0;
    for (let cookie = 0, isEnd = false; !isEnd;) {
      const page = await filesystem.readDirectory(SUPERUSER, filesystem.root, cookie, 64);
      for (const { name } of page.entries) await filesystem.unlink(SUPERUSER, filesystem.root, name);
      removed += page.entries.length;
      cookie = page.entries.at(-1)?.cookie ?? cookie;
      isEnd = page.isEnd;
    }
    assert.equal(removed, 600);
  });

  it('tell names of the same hash apart', async () => {
    const device = new MemoryDevice(8 * MIB);
    await formatStore(device);
    const store = await FilesystemStore.open(device);
    const key = Buffer.alloc(8);
    const name = Buffer.from('one');
    const first = hashName(name, key);
    // Two others that claim the same hash, as if they collided.
    for (const [index, other] of ['two', 'three'].entries()) {
      const value = Buffer.concat([Buffer.of(100 + index, 0, 0, 0, 0, 0, 0), Buffer.from(other)]);
      await store.change((transaction) => transaction.put(50, 4, first + index, value));
    }
    await store.change((transaction) => addEntry(transaction, 50, name, { inode: 7, type: 'file' }, key));
    const entry = await store.read(() => findEntry(store.tree, 50, name, key));
    assert.equal(entry?.inode, 7);
    assert.equal(entry.cookie, first + 2);
    const found: string[] = [];
    await store.read(() => listEntries(store.tree, 50, 0, (each) => found.push(each.name.toString()) > 0));
    assert.deepEqual(found, ['two', 'three', 'one']);
    await store.change((transaction) => removeEntry(transaction, 50, entry));
    assert.equal(await store.read(() => findEntry(store.tree, 50, name, key)), undefined);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFilesystem } from '@granary/storage/filesystem';
import { until } from '../../../../testing/waiting.ts';
import type { Client3 } from '../../../../protocols/nfs/testing/client3.ts';
import type { ListedFile } from '../../shares.ts';
import { servedShare, type ShareRig, shareRig } from './testing/share-rig.ts';

const JUKEBOX = 10_008;
const IO = 5;
const PIECE = 1_000_000;
const ARCHIVE = { destination: 'objdst-00000001', key: 'a/b' };

async function makeFile(client: Client3, directory: Buffer, name: string, data: Buffer): Promise<Buffer> {
  const { handle } = await client.create(directory, name, { mode: 0o640 });
  for (let at = 0; at < data.length; at += PIECE) {
    assert.equal((await client.write(handle, at, data.subarray(at, at + PIECE))).status, 0);
  }
  return handle;
}

async function listed(rig: ShareRig, snapshot: string): Promise<readonly ListedFile[]> {
  await rig.engine.takeSnapshots([{ volume: 'files', snapshot }], 1000);
  return rig.shares.listFiles(snapshot, 0, 100);
}

async function setUp(t: Parameters<typeof shareRig>[0]) {
  const rig = await shareRig(t);
  await rig.share('files');
  const client = await rig.client3('files');
  return { rig, client, shares: rig.shares };
}

const named = (files: readonly ListedFile[], path: string) => {
  const found = files.find((file) => file.path === path);
  assert.ok(found, path);
  return found;
};

test('files of a snapshot are listed page by page, each once, as they were', async (t) => {
  const { rig, client, shares } = await setUp(t);
  const directory = await client.mkdir(client.root, 'd');
  for (let number = 0; number < 5; number += 1) {
    await makeFile(client, directory.handle, `f${number}`, Buffer.alloc(5000, 1));
  }
  const { handle } = await client.lookup(directory.handle, 'f0');
  await client.link(handle, client.root, 'also');
  await client.symlink(client.root, 'link', 'd');
  const files = await listed(rig, 's');
  assert.equal(files.length, 5);
  const [first] = files;
  assert.deepEqual([first?.sizeBytes, first?.usedBytes, first?.isArchived], [5000, 8192, false]);
  assert.ok(['/also', '/d/f0'].includes(first?.path ?? ''));
  assert.ok(Math.abs((first?.modifiedAt ?? 0) - Date.now()) < 60_000);
  await makeFile(client, client.root, 'later', Buffer.from('x'));
  const paged: ListedFile[] = [];
  for (let page = await shares.listFiles('s', 0, 2); page.length > 0;) {
    paged.push(...page);
    page = await shares.listFiles('s', page.at(-1)?.inode ?? 0, 2);
  }
  assert.deepEqual(paged, files);
  await assert.rejects(shares.listFiles('nothing', 0, 2), { code: 'not-found' });
});

test('however many files are asked for, a listing finds a few at a time, so that clients get their turn', async (t) => {
  const { rig, client, shares } = await setUp(t);
  const numbers = Array.from({ length: 260 }, (_, number) => number);
  await Promise.all(numbers.map((number) => client.create(client.root, `f${number}`)));
  await listed(rig, 's');
  const [first] = await shares.listFiles('s', 0, 1_000_000);
  assert.equal((await shares.listFiles('s', first?.inode ?? 0, 1_000_000)).length, 250);
});

test('an archived file shows its size, and reading it waits until its contents are back', async (t) => {
  const { rig, client, shares } = await setUp(t);
  const data = Buffer.alloc(100_000, 'archive ');
  const handle = await makeFile(client, client.root, 'f', data);
  const file = named(await listed(rig, 's'), '/f');
  assert.deepEqual(Buffer.from(await shares.readFile('files', file, 50_000, 100_000)), data.subarray(50_000));
  assert.equal(await shares.archiveFile('files', { ...file, change: file.change - 1 }, ARCHIVE), false);
  assert.equal(await shares.archiveFile('files', file, ARCHIVE), true);
  assert.equal(await shares.archiveFile('files', file, ARCHIVE), true, 'asked again by another controller');
  assert.equal(await shares.archiveFile('files', file, { ...ARCHIVE, key: 'another' }), false);
  const [stub] = await listed(rig, 'archived');
  assert.deepEqual([stub?.isArchived, stub?.sizeBytes, stub?.archive], [true, 100_000, ARCHIVE]);
  assert.equal((await client.getattr(handle)).attributes?.size, 100_000);
  assert.equal(named(await listed(rig, 's2'), '/f').isArchived, true);
  const reading = Promise.all([client.read(handle, 0, 100_000), client.read(handle, 8, 10)]);
  const wanted = () => rig.rig.events.filter(({ type }) => type === 'recall-wanted');
  await until(() => Promise.resolve(wanted().length > 0), 'it is asked for');
  const { inode, generation } = file;
  assert.deepEqual(wanted(), [
    { type: 'recall-wanted', volume: 'files', inode, generation, sizeBytes: 100_000, archive: ARCHIVE },
  ]);
  await shares.writeRecall('files', inode, generation, 0, data.subarray(0, 60_000));
  await shares.writeRecall('files', inode, generation, 60_000, data.subarray(60_000));
  await shares.finishRecall('files', inode, generation);
  const [whole, part] = await reading;
  assert.deepEqual([whole.data.equals(data), part.data.toString()], [true, 'archive ar']);
  assert.equal(wanted().length, 1, 'however many wait');
});

test('a recall that takes long or fails is reported to the waiting clients, and asked for again', async (t) => {
  const { rig, client, shares } = await setUp(t);
  const handle = await makeFile(client, client.root, 'f', Buffer.alloc(5000, 'x'));
  const file = named(await listed(rig, 's'), '/f');
  await shares.archiveFile('files', file, ARCHIVE);
  assert.equal((await client.read(handle, 0, 10)).status, JUKEBOX);
  const reading = client.read(handle, 0, 10);
  await client.getattr(handle);
  await shares.finishRecall('files', file.inode, file.generation, 'the bucket is gone');
  assert.equal((await reading).status, IO);
  const writing = client.write(handle, 0, Buffer.from('new'));
  await until(() => {
    return Promise.resolve(rig.rig.events.filter(({ type }) => type === 'recall-wanted').length === 2);
  }, 'it is asked for again');
  await shares.writeRecall('files', file.inode, file.generation, 0, Buffer.alloc(5000, 'y'));
  await shares.finishRecall('files', file.inode, file.generation);
  assert.equal((await writing).status, 0);
  assert.equal((await client.read(handle, 0, 5)).data.toString(), 'newyy');
});

test('expired files are gone, or in the recycle bin until that is emptied', async (t) => {
  const { rig, client, shares } = await setUp(t);
  const secret = await client.mkdir(client.root, 'secret', { mode: 0o700, uid: 7 });
  await makeFile(client, secret.handle, 'plan', Buffer.from('p'));
  const gone = await makeFile(client, client.root, 'gone', Buffer.from('g'));
  await client.link(gone, secret.handle, 'gone too');
  await makeFile(client, client.root, 'changed', Buffer.from('c'));
  await shares.setProject('files', '/secret', 3, {});
  const files = await listed(rig, 's');
  const { handle } = await client.lookup(client.root, 'changed');
  await client.write(handle, 0, Buffer.from('d'));
  assert.equal(await shares.expireFile('files', named(files, '/changed'), false), false);
  const both = files.find(({ path }) => path.includes('gone'));
  assert.ok(both);
  assert.equal(await shares.expireFile('files', both, false), true);
  assert.equal(await shares.expireFile('files', named(files, '/secret/plan'), true), true);
  assert.deepEqual(await client.names(secret.handle), []);
  assert.deepEqual((await client.names(client.root)).sort(), ['.recycle', 'changed', 'secret']);
  const bin = await client.lookup(client.root, '.recycle');
  const [moment = ''] = await client.names(bin.handle);
  const within = await client.lookup((await client.lookup(bin.handle, moment)).handle, 'secret');
  assert.deepEqual([within.attributes?.mode, within.attributes?.uid], [0o700, 7]);
  assert.deepEqual(await client.names(within.handle), ['plan']);
  const left = (await listed(rig, 's2')).map(({ path }) => path).sort();
  assert.deepEqual(left, [`/.recycle/${moment}/secret/plan`, '/changed']);
  assert.equal((await shares.quota('files', 'project', 3)).files, 1);
  assert.equal(await shares.purgeBin('files', Date.now() - 60_000, {}), 0);
  assert.equal(await shares.purgeBin('files', Date.now() + 60_000, {}), 1);
  assert.deepEqual(await client.names(bin.handle), []);
  await rig.shares.removeShare('files');
  assert.deepEqual((await checkFilesystem(rig.engine.device('files')!)).findings, []);
});

test('a file of a snapshot is restored over the one that is there, or elsewhere', async (t) => {
  const { rig, client, shares } = await setUp(t);
  const directory = await client.mkdir(client.root, 'd', { mode: 0o750, uid: 9 });
  const data = Buffer.alloc(3_000_000, 'old ');
  data.fill(0, 1_048_576, 2_097_152);
  const handle = await makeFile(client, directory.handle, 'f', data);
  await client.setattr(handle, { uid: 7, mtime: [1000, 5] });
  await listed(rig, 's');
  await client.write(handle, 0, Buffer.from('new'));
  const seen: number[] = [];
  await shares.restoreFile('files', 's', '/d/f', '/d/f', { onProgress: (fraction) => seen.push(fraction) });
  assert.equal(seen.at(-1), 1);
  const back = await client.lookup(directory.handle, 'f');
  const { uid, mode, mtime, size } = back.attributes!;
  assert.deepEqual({ uid, mode, mtime, size }, { uid: 7, mode: 0o640, mtime: '1000.5', size: 3_000_000 });
  for (let at = 0; at < data.length; at += 1_000_000) {
    assert.ok((await client.read(back.handle, at, 1_000_000)).data.equals(data.subarray(at, at + 1_000_000)));
  }
  await client.remove(directory.handle, 'f');
  await client.rmdir(client.root, 'd');
  await shares.restoreFile('files', 's', '/d/f', '/d/f', {});
  const again = await client.lookup(client.root, 'd');
  assert.deepEqual([again.attributes?.mode, again.attributes?.uid], [0o750, 9]);
  await shares.restoreFile('files', 's', '/d/f', '/elsewhere/g', {});
  assert.deepEqual(await client.names(again.handle), ['f']);
  await assert.rejects(shares.restoreFile('files', 's', '/d/nothing', '/x', {}), { code: 'not-found' });
  await assert.rejects(shares.restoreFile('files', 's', '/d', '/x', {}), { code: 'invalid' });
  await assert.rejects(shares.restoreFile('files', 's', '/d/f', '/d', {}), { code: 'invalid' });
  await client.symlink(client.root, 'trap', 'd');
  await assert.rejects(shares.restoreFile('files', 's', '/d/f', '/trap/f', {}), { code: 'conflict' });
});

async function archivedInSnapshot(t: Parameters<typeof shareRig>[0], data: Buffer) {
  const { rig, client, shares } = await setUp(t);
  await makeFile(client, client.root, 'f', data);
  await shares.archiveFile('files', named(await listed(rig, 's'), '/f'), ARCHIVE);
  await listed(rig, 's2');
  await shares.putShare(servedShare('files', { snapshots: [{ id: 's2', name: 'now' }] }));
  const snapshot = await client.lookup((await client.lookup(client.root, '.snapshot')).handle, 'now');
  const { handle } = await client.lookup(snapshot.handle, 'f');
  const wanted = () => rig.rig.events.flatMap((event) => (event.type === 'contents-wanted' ? [event] : []));
  return { rig, client, shares, handle, wanted };
}

test('contents that were archived before a snapshot are read from their object', async (t) => {
  const data = Buffer.alloc(5_000_000, 'archived ');
  const { rig, client, shares, handle, wanted } = await archivedInSnapshot(t, data);
  assert.equal((await client.getattr(handle)).attributes?.size, data.length);
  const give = async (index: number) => {
    await until(() => Promise.resolve(wanted().length > index), 'it is asked for');
    const { archive, sizeBytes, offset, length } = wanted()[index]!;
    assert.deepEqual([archive, sizeBytes], [ARCHIVE, data.length]);
    await shares.giveContents(archive, offset, data.subarray(offset, offset + length), '');
  };
  const reading = Promise.all([client.read(handle, 8, 1000), client.read(handle, 100_000, 10)]);
  await give(0);
  const [some, others] = await reading;
  assert.ok(some.data.equals(data.subarray(8, 1008)));
  assert.ok(others.data.equals(data.subarray(100_000, 100_010)));
  assert.equal(wanted().length, 1, 'however many wait');
  const across = client.read(handle, 4_194_300, 1_000_000);
  await give(1);
  const end = await across;
  assert.deepEqual([end.data.equals(data.subarray(4_194_300)), end.eof], [true, true]);
  await shares.restoreFile('files', 's2', '/f', '/g', {});
  const restored = await client.lookup(client.root, 'g');
  assert.ok((await client.read(restored.handle, 0, 1000)).data.equals(data.subarray(0, 1000)));
  assert.ok((await client.read(restored.handle, 4_500_000, 1000)).data.equals(data.subarray(4_500_000, 4_501_000)));
  assert.equal(wanted().length, 2, 'all of it was at hand');
  assert.equal(named(await listed(rig, 's3'), '/f').isArchived, true, 'nothing was brought back');
  assert.equal(named(await listed(rig, 's4'), '/g').isArchived, false);
});

test('an object that cannot be read fails reads and restores with EIO, and is requested again', async (t) => {
  const { client, shares, handle, wanted } = await archivedInSnapshot(t, Buffer.alloc(5000, 'x'));
  const refuse = async (index: number) => {
    await until(() => Promise.resolve(wanted().length > index), 'it is asked for');
    await shares.giveContents(ARCHIVE, 0, null, 'the bucket is gone');
  };
  const reading = client.read(handle, 0, 10);
  await refuse(0);
  assert.equal((await reading).status, IO);
  const restoring = assert.rejects(shares.restoreFile('files', 's2', '/f', '/g', {}), {
    code: 'failed',
    message: /the bucket is gone/,
  });
  await refuse(1);
  await restoring;
  assert.deepEqual((await client.names(client.root)).includes('g'), false);
  assert.equal((await client.read(handle, 0, 10)).status, JUKEBOX, 'no recall ran');
});

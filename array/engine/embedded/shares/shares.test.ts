import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFilesystem } from '@granary/storage/filesystem';
import { until } from '../../../../testing/waiting.ts';
import { Client3 } from '../../../../protocols/nfs/testing/client3.ts';
import { MIB } from '../testing/rig.ts';
import { servedShare, type ShareRig, shareRig } from './testing/share-rig.ts';

const OK = 0;
const NOT_FOUND = 2;
const READ_ONLY = 30;
const NO_SPACE = 28;
const STALE = 70;
const IO = 5;

async function writeFile(client: Client3, name: string, text: string): Promise<Buffer> {
  const { handle, status } = await client.create(client.root, name, { mode: 0o644 });
  assert.equal(status, OK);
  assert.equal((await client.write(handle, 0, Buffer.from(text))).status, OK);
  return handle;
}

async function readFile(client: Client3, handle: Buffer): Promise<string> {
  const { status, data } = await client.read(handle, 0, 1000);
  return status === OK ? data.toString() : `status ${status}`;
}

async function checked({ engine }: ShareRig, volume: string): Promise<void> {
  assert.deepEqual((await checkFilesystem(engine.device(volume)!)).findings, []);
}

test('a share is made once, served, and gone when it is removed; its volume stays', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files');
  const client = await rig.client3('files');
  const handle = await writeFile(client, 'f', 'hello');
  await rig.shares.formatShare('files');
  assert.equal(await readFile(client, handle), 'hello');
  await rig.shares.removeShare('files');
  assert.equal((await client.getattr(handle)).status, STALE);
  await assert.rejects(rig.client3('files'));
  await checked(rig, 'files');
  await rig.shares.formatShare('files');
  await rig.shares.putShare(servedShare('files'));
  assert.equal(await readFile(client, handle), 'hello', 'the handle is valid again');
});

test('a share of a petabyte whose volume is reduced is made and served', async (t) => {
  const rig = await shareRig(t);
  const reduced = { compression: true, deduplication: true };
  await rig.engine.createVolume({ id: 'vast', pool: 'p', sizeBytes: 2 ** 50, ...reduced });
  await rig.shares.formatShare('vast');
  await rig.shares.putShare(servedShare('vast'));
  const client = await rig.client3('vast');
  const handle = await writeFile(client, 'f', 'hello');
  assert.equal(await readFile(client, handle), 'hello');
});

test('what is no share, or has the name of another, is refused', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files');
  await rig.rig.volume('blocks', 'p');
  await assert.rejects(rig.shares.putShare(servedShare('blocks')), { code: 'invalid', message: /format it first/ });
  await assert.rejects(rig.shares.putShare(servedShare('nothing')), { code: 'not-found' });
  await rig.shares.formatShare('blocks');
  const taken = servedShare('blocks', { exportNames: ['files'] });
  await assert.rejects(rig.shares.putShare(taken), { code: 'invalid', message: /one within the other/ });
  const unreachable = servedShare('blocks', { clients: [{ server: 's', address: 'everywhere', readOnly: false }] });
  await assert.rejects(rig.shares.putShare(unreachable), { code: 'invalid', message: /everywhere is no address/ });
  await rig.shares.putShare(servedShare('blocks'));
  await rig.client3('blocks');
  await assert.rejects(rig.shares.putShare(servedShare('blocks', { exportNames: ['files'] })), { code: 'invalid' });
  await rig.client3('blocks');
});

test('who may do what changes at once, and handles stay valid when names change', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files');
  const client = await rig.client3('files');
  const handle = await writeFile(client, 'f', 'hello');
  const readOnly = [{ server: 's', address: '127.0.0.0/8', readOnly: true }];
  await rig.shares.putShare(servedShare('files', { clients: readOnly, exportNames: ['other', 'more'] }));
  assert.equal((await client.write(handle, 0, Buffer.from('x'))).status, READ_ONLY);
  assert.equal(await readFile(client, handle), 'hello');
  await assert.rejects(rig.client3('files'));
  assert.deepEqual((await rig.client3('more')).root, client.root);
  const own = { server: 't', address: (await rig.connect()).socket.localAddress!, readOnly: false };
  await rig.shares.putShare(servedShare('files', { clients: [...readOnly, own], squash: 'root' }));
  assert.equal((await client.write(handle, 0, Buffer.from('x'))).status, 13, 'root is squashed now');
  await rig.shares.putShare(servedShare('files', { clients: [] }));
  assert.equal((await client.getattr(handle)).status, 13);
});

test('what was written is there after a restart, and known by the same handles', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files');
  const client = await rig.client3('files');
  const handle = await writeFile(client, 'f', 'hello');
  await rig.reopen();
  await rig.shares.putShare(servedShare('files'));
  assert.equal(await readFile(await rig.client3('files'), handle), 'hello');
});

test('a share grows with its volume and moves with it', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files');
  const client = await rig.client3('files');
  const handle = await writeFile(client, 'f', 'hello');
  await rig.engine.expandVolume('files', 64 * MIB);
  assert.equal((await rig.reported('files'))?.share?.totalBytes, 64 * MIB);
  await rig.rig.pool('q', 2, 3);
  await rig.engine.moveVolume('files', 'q', true, {});
  assert.equal((await client.write(handle, 5, Buffer.from(' there'))).status, OK);
  assert.equal(await readFile(client, handle), 'hello there');
  await rig.shares.removeShare('files');
  await checked(rig, 'files');
});

test('a revert under an exported share: files of the snapshot are back, later ones are stale', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files');
  const client = await rig.client3('files');
  const kept = await writeFile(client, 'kept', 'before');
  await rig.engine.takeSnapshots([{ volume: 'files', snapshot: 's' }], 1000);
  await client.write(kept, 0, Buffer.from('after!'));
  const late = await writeFile(client, 'late', 'x');
  const { verifier } = await client.commit(kept);
  await rig.engine.revertVolume('s');
  assert.equal(await readFile(client, kept), 'before');
  assert.equal((await client.getattr(late)).status, STALE);
  assert.deepEqual(await client.names(client.root), ['kept']);
  assert.notEqual((await client.commit(kept)).verifier, verifier, 'clients send again what was not committed');
  await writeFile(client, 'new', 'y');
  assert.equal((await client.getattr(late)).status, STALE, 'also if its number is used again');
});

test('snapshots hold all that was answered, are shown to read, and end before they are deleted', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files');
  const client = await rig.client3('files');
  const handle = await writeFile(client, 'f', 'hello');
  await client.write(handle, 0, Buffer.from('HELLO'), 0);
  await rig.engine.takeSnapshots([{ volume: 'files', snapshot: 'snap-1' }], 1000);
  await client.write(handle, 0, Buffer.from('later'));
  await rig.shares.putShare(servedShare('files', { snapshots: [{ id: 'snap-1', name: 'monday' }] }));
  const directory = await client.lookup(client.root, '.snapshot');
  const monday = await client.lookup(directory.handle, 'monday');
  const old = await client.lookup(monday.handle, 'f');
  assert.equal(await readFile(client, old.handle), 'HELLO');
  assert.equal((await client.write(old.handle, 0, Buffer.from('x'))).status, READ_ONLY);
  await rig.engine.deleteSnapshot('snap-1');
  assert.equal((await client.getattr(old.handle)).status, STALE);
  assert.equal((await client.lookup(directory.handle, 'monday')).status, NOT_FOUND);
  assert.equal(await readFile(client, handle), 'later');
});

test('a clone of a share is a share of its own', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files');
  const client = await rig.client3('files');
  const handle = await writeFile(client, 'f', 'original');
  await rig.engine.takeSnapshots([{ volume: 'files', snapshot: 's' }], 1000);
  await rig.engine.cloneSnapshot('s', 'copy');
  await rig.shares.putShare(servedShare('copy'));
  const other = await rig.client3('copy');
  const copied = (await other.lookup(other.root, 'f')).handle;
  assert.notDeepEqual(copied, handle);
  await other.write(copied, 0, Buffer.from('copied!!'));
  assert.deepEqual([await readFile(client, handle), await readFile(other, copied)], ['original', 'copied!!']);
  await rig.engine.deleteVolume('copy');
  assert.equal((await other.getattr(copied)).status, STALE);
  assert.equal(await readFile(client, handle), 'original');
});

test('a locked volume is mounted when it is unlocked; its clients wait until then', async (t) => {
  const rig = await shareRig(t);
  const key = Buffer.from(Array.from({ length: 64 }, (_, index) => index));
  const sizeBytes = 32 * MIB;
  await rig.engine.createVolume({ id: 'secret', pool: 'p', sizeBytes, key, compression: false, deduplication: false });
  await rig.shares.formatShare('secret');
  await rig.shares.putShare(servedShare('secret'));
  const handle = await writeFile(await rig.client3('secret'), 'f', 'hush');
  await rig.reopen();
  await rig.shares.putShare(servedShare('secret'));
  await assert.rejects(rig.shares.quotaState('secret'), { code: 'locked' });
  const rpc = await rig.connect();
  const reading = readFile(new Client3(rpc, Buffer.alloc(0)), handle);
  await rig.engine.unlockVolume('secret', key);
  assert.equal(await reading, 'hush');
});

test('writes of a share that are held back go on afterwards', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files');
  const client = await rig.client3('files');
  const handle = await writeFile(client, 'f', 'before');
  await client.write(handle, 0, Buffer.from('unsure'), 0);
  await rig.engine.holdWrites(['files'], 60_000);
  let isAnswered = false;
  const writing = client.write(handle, 0, Buffer.from('during')).then(() => (isAnswered = true));
  await rig.engine.takeSnapshots([{ volume: 'files', snapshot: 's' }], 1000);
  assert.equal(isAnswered, false);
  await rig.engine.releaseWrites(['files']);
  await writing;
  assert.equal(await readFile(client, handle), 'during');
  await rig.shares.putShare(servedShare('files', { snapshots: [{ id: 's', name: 's' }] }));
  const directory = await client.lookup(client.root, '.snapshot');
  const shown = await client.lookup((await client.lookup(directory.handle, 's')).handle, 'f');
  assert.equal(await readFile(client, shown.handle), 'unsure');
});

test('a full share refuses, and takes files again after some were deleted', async (t) => {
  const rig = await shareRig(t);
  await rig.share('files', {}, 16 * MIB);
  const client = await rig.client3('files');
  let status = OK;
  let count = 0;
  for (; status === OK && count < 100; count += 1) {
    const { handle } = await client.create(client.root, `f${count}`, {});
    ({ status } = await client.write(handle, 0, Buffer.alloc(MIB, count)));
  }
  assert.equal(status, NO_SPACE);
  assert.equal((await client.remove(client.root, 'f0')).status, OK);
  const { handle } = await client.create(client.root, 'again', {});
  assert.equal((await client.write(handle, 0, Buffer.alloc(MIB / 2, 1))).status, OK);
  await rig.shares.removeShare('files');
  await checked(rig, 'files');
});

test('a pool that fills up refuses writes of its shares, and takes them again after files were deleted', async (t) => {
  const rig = await shareRig(t, { driveMb: 48 });
  await rig.share('files', {}, 256 * MIB);
  const client = await rig.client3('files');
  let [status, count] = [OK, 0];
  for (; status === OK && count < 100; count += 1) {
    const { handle } = await client.create(client.root, `f${count}`, {});
    ({ status } = await client.write(handle, 0, Buffer.alloc(MIB, count)));
  }
  assert.equal(status, NO_SPACE);
  for (let number = 0; number < count - 5; number += 1) {
    assert.equal((await client.remove(client.root, `f${number}`)).status, OK, `f${number}`);
  }
  await until(async () => {
    const { handle } = await client.create(client.root, 'again', {});
    return (await client.write(handle, 0, Buffer.alloc(MIB, 1))).status === OK;
  }, 'there is room again');
  await rig.shares.removeShare('files');
  await checked(rig, 'files');
});

test('a pool that is away and comes back: clients hear of errors, then everything answered is there', async (t) => {
  const rig = await shareRig(t, { count: 2, driveMb: 64 });
  await rig.share('files');
  const client = await rig.client3('files');
  const handle = await writeFile(client, 'f', 'kept');
  for (const drive of [0, 1]) await rig.engine.takeDriveOffline(rig.rig.drive(drive));
  assert.equal((await client.create(client.root, 'g', {})).status, IO);
  for (const drive of [0, 1]) await rig.engine.bringDriveOnline(rig.rig.drive(drive));
  await rig.rig.groupIs('group-of-p', 'normal');
  assert.equal(await readFile(client, handle), 'kept');
  await writeFile(client, 'after', 'x');
  for (const drive of [0, 1]) rig.rig.hide(drive);
  await rig.engine.close();
  await rig.rig.start();
  await rig.serve();
  await rig.shares.putShare(servedShare('files'));
  const reported = rig.rig.events.filter(({ type }) => type === 'background-error');
  assert.match(JSON.stringify(reported.at(-1)), /Share files cannot be mounted now/);
  assert.equal((await rig.reported('files'))?.share ?? null, null);
  for (const drive of [0, 1]) rig.rig.show(drive);
  for (const drive of [0, 1]) await rig.engine.bringDriveOnline(rig.rig.drive(drive));
  rig.retry();
  const again = new Client3(await rig.connect(), client.root);
  assert.equal(await readFile(again, handle), 'kept');
});

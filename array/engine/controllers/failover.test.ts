import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CRASH } from './testing/break-at-will.ts';
import { insist, server, servedVolume, VOLUME, type ServedVolume } from './testing/served-volume.ts';
import { partOf } from '../parts.ts';

const PATIENCE_MS = 60_000;

const activeOf = async ({ engine }: ServedVolume) =>
  (await engine.report(0)).controllers.find(({ state }) => state === 'active')?.name;

test('what the engine does not keep is sent to the controller that takes over', async (t) => {
  const served = await servedVolume(t);
  const { engine } = served;
  await engine.putServer(server());
  await engine.setCaps(VOLUME, { readIops: 0, readBytesPerSecond: 0, writeIops: 20, writeBytesPerSecond: 0 });
  await partOf(engine, 'controllers').failover();
  const lun = await served.open();
  const startedMs = performance.now();
  for (let write = 0; write < 40; write++) await lun.write(write, Buffer.alloc(512, write));
  assert.ok(performance.now() - startedMs > 300, 'the cap holds');
});

test('mirrors are read by the controller that takes over as they were by the one before', async (t) => {
  const served = await servedVolume(t);
  const { engine } = served;
  const bytes = 8 * 2 ** 20;
  await engine.writeVolume(VOLUME, 0, new Uint8Array(bytes).fill(7));
  await engine.flushVolume(VOLUME);
  await engine.putServer(server());
  const readBytes = async () => {
    const lun = await served.open();
    const before = (await engine.report(0)).drives.map(({ io }) => io.reads.bytes);
    for (let at = 0; at < bytes; at += 2 ** 19) await lun.read(at / 512, 2 ** 19 / 512);
    const after = (await engine.report(0)).drives.map(({ io }) => io.reads.bytes);
    return after.map((read, index) => read - (before[index] ?? 0));
  };
  for (const read of await readBytes()) assert.ok(read >= bytes / 4, `${read} of ${bytes}`);
  await partOf(engine, 'hardware').setReadMode('first');
  await partOf(engine, 'controllers').failover();
  const [first = 0, second = 0] = await readBytes();
  assert.ok(first >= bytes && second < bytes / 8, `${first} and ${second}`);
});

test('a controller that writes are held in is not left', async (t) => {
  const { engine } = await servedVolume(t);
  await engine.holdWrites([VOLUME], 60_000);
  await assert.rejects(partOf(engine, 'controllers').failover(), { code: 'conflict' });
  await engine.releaseWrites([VOLUME]);
  await partOf(engine, 'controllers').failover();
});

test('a flush does not vouch for writes that went down with a controller', async (t) => {
  const served = await servedVolume(t);
  const { engine } = served;
  const bytes = new Uint8Array(4096).fill(7);
  await engine.writeVolume(VOLUME, 0, bytes);
  assert.equal(bytes.length, 4096, 'the caller keeps its bytes');
  void engine.pauseMove(CRASH).catch(() => undefined);
  await insist(async () => assert.equal(await activeOf(served), 'vsa-00000001-vc-1'), PATIENCE_MS);
  await assert.rejects(engine.flushVolume(VOLUME), { code: 'interrupted' });
  await engine.writeVolume(VOLUME, 0, bytes);
  await engine.flushVolume(VOLUME);
});

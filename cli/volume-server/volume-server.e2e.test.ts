import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Checker, Initiator, ScsiError } from '@granary/protocols/iscsi/testing';
import { RunningServer } from './testing/running-server.ts';

const TORTURE = process.env.GRANARY_TORTURE === '1';
const SECONDS = TORTURE ? 60 : 15;
const KILLS = TORTURE ? 20 : 3;
const SECTORS = (64 * 1024 * 1024) / 512;

let folder: string;
let server: RunningServer | undefined;

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'granary-volume-server-'));
});

afterEach(async () => {
  await server?.stop();
  server = undefined;
  fs.rmSync(folder, { recursive: true });
});

async function start(...options: string[]): Promise<RunningServer> {
  server = await RunningServer.start(folder, ...options);
  return server;
}

async function untilNormal(running: RunningServer): Promise<void> {
  while ((await running.status()).status !== 'normal') await setTimeout(200);
}

test(`${SECONDS} seconds of checked I/O see no error while two drives of a RAID6 fail and are rebuilt`, async (context) => {
  const running = await start('--size', '256M', '--level', 'RAID6', '--drives', '6');
  const session = await running.login();
  const lun = session.lun(0);
  await lun.clearUnitAttentions();
  const seed = Date.now() % 1_000_000;
  context.diagnostic(`seed ${seed}`);
  const checker = new Checker(lun, { seed, sectors: SECTORS, unmap: true });
  const working = checker.run({ seconds: SECONDS, depth: 16 });
  await setTimeout(SECONDS * 200);
  await running.say('fail 1');
  await setTimeout(SECONDS * 100);
  await running.say('fail 4');
  await setTimeout(SECONDS * 150);
  assert.deepEqual(
    (await running.status()).members.map(({ state }) => state),
    [...['active', 'failed', 'active', 'active', 'failed', 'active']],
  );
  await running.say('replace 1');
  await running.say('replace 4');
  const counts = await working;
  context.diagnostic(JSON.stringify(counts));
  await untilNormal(running);
  await checker.verifyAll();
  await running.say('scrub');
  assert.equal((await running.status()).mismatches, 0);
  await session.close();
  assert.equal(await running.stop(), 0);
});

test('what a flush answered for survives a kill of the server, at whatever moment', async () => {
  let running = await start('--size', '256M');
  let session = await running.login();
  await session.lun(0).clearUnitAttentions();
  const checker = new Checker(session.lun(0), { seed: 7, sectors: SECTORS, unmap: true });
  for (let round = 0; round < KILLS; round++) {
    const working = checker.run({ seconds: 30, depth: 16, flushPercent: 4 }).catch(() => 'cut off');
    await setTimeout(400 + 137 * round);
    await running.kill();
    assert.equal(await working, 'cut off');
    session.destroy();
    running = await start('--size', '256M');
    session = await running.login();
    await session.lun(0).clearUnitAttentions();
    checker.attach(session.lun(0));
    await checker.verifyAfterCrash();
  }
  await session.close();
});

test('a group that lost too many drives refuses, and goes on when one comes back', async () => {
  const running = await start('--size', '64M');
  const session = await running.login();
  const lun = session.lun(0);
  await lun.clearUnitAttentions();
  const bytes = Buffer.alloc(8192, 'kept');
  await lun.write(0, bytes, { fua: true });
  await running.say('fail 0');
  await lun.write(16, bytes, { fua: true });
  await running.say('fail 1');
  await assert.rejects(lun.write(32, bytes), ScsiError);
  await running.say('return 1');
  assert.deepEqual(await lun.read(0, 16), bytes);
  assert.deepEqual(await lun.read(16, 16), bytes);
  await running.say('return 0');
  await untilNormal(running);
  assert.deepEqual(await lun.read(16, 16), bytes);
  await session.close();
});

test('one server at a time runs in a folder, and a volume never becomes smaller', async () => {
  const running = await start('--size', '64M');
  await assert.rejects(RunningServer.start(folder, '--size', '64M'), /ended with 1/);
  assert.equal(await running.stop(), 0);
  await assert.rejects(RunningServer.start(folder, '--size', '32M'), /ended with 2/);
  await assert.rejects(RunningServer.start(folder, '--size', '1G'), /ended with 2/);
  const larger = await start('--size', '72M');
  const session = await larger.login();
  await session.lun(0).clearUnitAttentions();
  assert.equal((await session.lun(0).readCapacity()).blocks, (72 * 1024 * 1024) / 512);
  await session.close();
});

test('only initiators that are named and know the secret come in', async () => {
  const secret = 'correct-horse-battery';
  const initiatorName = 'iqn.2026-01.test:allowed';
  const chapFile = path.join(folder, 'chap');
  fs.writeFileSync(chapFile, `joe:${secret}\n`);
  const running = await start('--size', '64M', '--chap-file', chapFile, '--initiator', initiatorName);
  await assert.rejects(running.login({ initiatorName }), /LoginError|uthenti/);
  await assert.rejects(running.login({ initiatorName, chap: { username: 'joe', secret: 'wrong-horse-battery' } }));
  await assert.rejects(running.login({ initiatorName: 'iqn.2026-01.test:other', chap: { username: 'joe', secret } }));
  const session = await running.login({ initiatorName, chap: { username: 'joe', secret } });
  await session.close();

  const { host, port, targetName } = running;
  const known = { host, port, chap: { username: 'joe', secret } };
  await assert.rejects(Initiator.discover({ host, port, initiatorName }));
  await assert.rejects(Initiator.discover({ ...known, initiatorName: 'iqn.2026-01.test:other' }));
  const found = await Initiator.discover({ ...known, initiatorName });
  assert.deepEqual(
    found.map(({ name }) => name),
    [targetName],
  );
});

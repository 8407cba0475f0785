import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Checker } from './checker.ts';
import { LoginError, InitiatorProtocolError, ScsiError } from './errors.ts';
import { Initiator, type LoginOptions } from './initiator.ts';
import { LoadProcess } from './load-process.ts';
import { skipWithout } from './packages.ts';
import { Tgtd, type TgtdOptions } from './tgtd.ts';

const skip = await skipWithout('tgt');
const UNIT_BYTES = 64 * 1024 * 1024;
const DIGESTS = { HeaderDigest: 'CRC32C,None', DataDigest: 'CRC32C,None' };

/** Runs `story` against a fresh tgtd, whose reads do not keep to MaxBurstLength. */
async function withTgtd(
  options: Omit<TgtdOptions, 'file'>,
  story: (login: LoginOptions) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'granary-tgtd-'));
  const file = join(folder, 'unit');
  writeFileSync(file, '');
  truncateSync(file, UNIT_BYTES);
  const tgtd = await Tgtd.start({ file, ...options });
  try {
    const { host, port, targetName } = tgtd;
    await story({ host, port, targetName, toleratesLongBursts: true });
  } finally {
    await tgtd.stop();
    rmSync(folder, { recursive: true });
  }
}

test('discovery finds the target and where it is', { skip }, async () => {
  await withTgtd({}, async (login) => {
    assert.deepEqual(await Initiator.discover(login), [
      { name: login.targetName, addresses: [`127.0.0.1:${login.port},1`] },
    ]);
  });
});

test('what is written is read back, by every way of sending and with digests', { skip }, async () => {
  await withTgtd({ keys: { ...DIGESTS, InitialR2T: 'No' } }, async (login) => {
    const ways = [
      {},
      { digests: { header: true, data: true } },
      { keys: { ImmediateData: 'No' } },
      { keys: { InitialR2T: 'Yes' } },
      { keys: { ImmediateData: 'No', InitialR2T: 'Yes', MaxRecvDataSegmentLength: '512', MaxBurstLength: '4096' } },
    ];
    for (const [index, way] of ways.entries()) {
      const session = await Initiator.login({ ...login, ...way });
      const lun = session.lun(1);
      await lun.clearUnitAttentions();
      for (const sectors of [1, 8, 129, 2048]) {
        const data = Buffer.alloc(sectors * 512, `${index} ${sectors} `);
        await lun.write(17, data);
        assert.ok((await lun.read(17, sectors)).equals(data), `way ${index}, ${sectors} sectors`);
      }
      await session.close();
    }
  });
});

test('a session says what the unit is and what it complains about', { skip }, async () => {
  await withTgtd({}, async (login) => {
    const session = await Initiator.login(login);
    const lun = session.lun(1);
    assert.deepEqual(
      (await lun.clearUnitAttentions()).map(({ asc }) => asc),
      [0x29],
    );
    assert.equal(session.unitAttentions.length, 1);
    assert.deepEqual(await lun.reportLuns(), [0, 1]);
    assert.equal((await lun.inquiry()).subarray(16, 28).toString(), 'VIRTUAL-DISK');
    const { blocks, blockBytes } = await lun.readCapacity();
    assert.equal(blocks * blockBytes, UNIT_BYTES);
    await assert.rejects(lun.read(blocks, 1), (error) => error instanceof ScsiError && error.sense?.asc === 0x21);
    await session.ping(Buffer.from('are you there'));
    assert.equal(await lun.reset(), 0);
    await session.close();
    assert.equal(session.isOpen, false);
  });
});

test('CHAP in both directions: the right secrets open, wrong ones do not', { skip }, async () => {
  const chap = { username: 'reader', secret: 'twelve bytes and more' };
  const mutualChap = { username: 'target', secret: 'another long secret' };
  await withTgtd({ chap, mutualChap }, async (login) => {
    await (await Initiator.login({ ...login, chap })).close();
    await (await Initiator.login({ ...login, chap: { ...chap, mutual: mutualChap } })).close();
    await assert.rejects(Initiator.login({ ...login, chap: { ...chap, secret: 'wrong' } }), LoginError);
    await assert.rejects(Initiator.login(login), LoginError);
    const mistaken = { ...chap, mutual: { ...mutualChap, secret: 'not what it is' } };
    await assert.rejects(Initiator.login({ ...login, chap: mistaken }), InitiatorProtocolError);
  });
});

test('random reads and writes at a depth come back as they were written', { skip }, async () => {
  await withTgtd({}, async (login) => {
    const session = await Initiator.login(login);
    const lun = session.lun(1);
    await lun.clearUnitAttentions();
    const checker = new Checker(lun, { seed: 1, sectors: UNIT_BYTES / 512 });
    const counts = await checker.run({ operations: 1500, depth: 24 });
    assert.ok(counts.reads > 300 && counts.writes > 300 && counts.flushes > 0);
    await checker.verifyAll();
    await session.close();
  });
});

test('a process of its own fills a unit and puts a load on it; its errors are reported here', { skip }, async () => {
  await withTgtd({}, async (login) => {
    const load = new LoadProcess();
    const size = { transferBytes: 4096, spanBytes: 4 * 1024 * 1024, depth: 8, seconds: 0.2, seed: 1 };
    try {
      await load.request({ login, lun: 1, fillBytes: size.spanBytes });
      for (const operation of ['read', 'write'] as const) {
        const result = await load.request({ login, lun: 1, workload: { ...size, operation, pattern: 'random' } });
        assert.ok(result.operations > 100 && result.seconds >= 0.2);
      }
      await assert.rejects(load.request({ login, lun: 9 }), /illegal request 25\/00/);
    } finally {
      load.stop();
    }
  });
});

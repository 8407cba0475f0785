import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FaultyDrive } from './faulty-drive.ts';
import { MemoryDrive } from './testing/memory-drive.ts';

function newDrive(): { inner: MemoryDrive; drive: FaultyDrive } {
  const inner = new MemoryDrive('drive-1', 1024 * 1024);
  return { inner, drive: new FaultyDrive(inner) };
}

const half = () => 0.5;

describe('a drive that can be broken', () => {
  it('refuses everything from fail to heal', async () => {
    const { drive } = newDrive();
    drive.fail();
    assert.throws(() => drive.read(0, Buffer.alloc(4096)), { code: 'drive-failed' });
    assert.throws(() => drive.write(0, Buffer.alloc(4096)), { code: 'drive-failed' });
    await assert.rejects(drive.flush(), { code: 'drive-failed' });
    drive.heal();
    await drive.write(0, Buffer.alloc(4096));
  });

  it('fails in a range only', async () => {
    const { drive } = newDrive();
    drive.failReads(8192, 4096);
    drive.failWrites(16384, 4096);
    await drive.read(0, Buffer.alloc(8192));
    assert.throws(() => drive.read(4096, Buffer.alloc(8192)), { code: 'drive-failed' });
    await drive.write(8192, Buffer.alloc(8192));
    assert.throws(() => drive.write(16384, Buffer.alloc(4096)), { code: 'drive-failed' });
  });

  it('takes of a write what fits when it is full, refuses the rest, and goes on with room', async () => {
    const { drive, inner } = newDrive();
    drive.refuseSpace(4096);
    assert.throws(() => drive.write(0, Buffer.alloc(8192, 1)), { code: 'no-space' });
    assert.deepEqual([inner.bytes[4095], inner.bytes[4096]], [1, 0]);
    await assert.rejects(drive.writeDurably(0, Buffer.alloc(4096, 2)), { code: 'no-space' });
    await drive.read(0, Buffer.alloc(4096));
    await drive.flush();
    drive.giveSpace();
    await drive.write(0, Buffer.alloc(8192, 3));
    assert.equal(inner.bytes[8191], 3);
  });

  it('takes its time when slow', async () => {
    const { drive } = newDrive();
    drive.slow(20);
    const start = performance.now();
    await drive.write(0, Buffer.alloc(4096, 1));
    await drive.read(0, Buffer.alloc(4096));
    assert.ok(performance.now() - start >= 35);
  });

  it('changes every byte of a corrupted range and no other', async () => {
    const { drive, inner } = newDrive();
    await drive.corrupt(5000, 100, half);
    assert.ok(inner.bytes.subarray(5000, 5100).every((byte) => byte !== 0));
    assert.ok(inner.bytes.subarray(0, 5000).every((byte) => byte === 0));
    assert.ok(inner.bytes.subarray(5100).every((byte) => byte === 0));
  });

  it('shows unflushed writes to readers and has them beneath only after a flush', async () => {
    const { drive, inner } = newDrive();
    drive.loseUnflushed();
    await drive.write(4096, Buffer.alloc(4096, 3));
    const block = Buffer.alloc(4096);
    await drive.read(4096, block);
    assert.equal(block[0], 3);
    assert.equal(inner.bytes[4096], 0);
    await drive.flush();
    assert.equal(inner.bytes[4096], 3);
  });

  it('keeps flushed sectors over a power cut, and of others any version or none', async () => {
    const { drive, inner } = newDrive();
    drive.loseUnflushed();
    await drive.write(0, Buffer.alloc(4096, 1));
    await drive.flush();
    for (const value of [2, 3]) await drive.write(0, Buffer.alloc(4096, value));
    let roll = 0;
    await drive.powerCut(() => (roll++ % 3) / 3);
    const sectors = Array.from({ length: 8 }, (_, sector) => inner.bytes[sector * 512]);
    assert.deepEqual(sectors, [1, 2, 3, 1, 2, 3, 1, 2]);
    assert.throws(() => drive.read(0, Buffer.alloc(4096)), { code: 'drive-failed' });
    await assert.rejects(drive.flush(), { code: 'drive-failed' });
  });
});

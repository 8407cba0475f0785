import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { mkdtemp, readFile, rm, truncate } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it, type Mock, mock } from 'node:test';
import { allocate, checksumBlocks, release } from '../kernels/index.ts';
import { systemError } from '../testing/system-error.ts';
import { BLOCK_BYTES } from '../units.ts';
import { writeCopies } from './copies.ts';
import { FileDrive } from './file-drive.ts';
import { HelperThread } from './helper-thread.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const DRIVE_BYTES = 8 * MIB;
const SIZES = [20, 64, 132, 512, 1000, 1024].map((kib) => kib * KIB);

function sumsOf(bytes: Buffer): Uint32Array {
  const sums = new Uint32Array(bytes.length / BLOCK_BYTES);
  checksumBlocks(bytes, sums, 0);
  return sums;
}

/** Writes to all of them; rejects with what the first of them says. */
async function write(drives: readonly FileDrive[], offset: number, from: Buffer): Promise<Uint32Array> {
  const sums = new Uint32Array(from.length / BLOCK_BYTES);
  const holders = drives.map((drive) => ({ drive }));
  await Promise.all(writeCopies(holders, offset, from, sums, (_, done) => done) ?? []);
  return sums;
}

/** A buffer of the arena, where the helper can work on it. */
function filled(bytes: number): Buffer {
  const data = allocate(bytes);
  randomBytes(bytes).copy(data);
  return data;
}

/** It takes a while to start; until then there is no room for many. */
async function wakeUp(): Promise<void> {
  const helper = HelperThread.get();
  assert.ok(helper);
  const nothing = fs.openSync('/dev/null', 'w');
  const data = allocate(BLOCK_BYTES);
  await helper.ended(helper.write([nothing], 0, data, new Uint32Array(1), false));
  fs.closeSync(nothing);
  release(data);
}

/** What is large is done by two threads together, piece by piece. */
describe('drives and their helper', () => {
  let folder: string;
  let asked: Mock<HelperThread['read']>[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'granary-helper-'));
    await wakeUp();
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(() => {
    const { prototype } = HelperThread;
    asked = [mock.method(prototype, 'read'), mock.method(prototype, 'write') as unknown as (typeof asked)[0]];
  });
  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
  });

  const open = (id: string) => FileDrive.open({ id, path: join(folder, id), sizeBytes: DRIVE_BYTES });
  const openAll = (...ids: string[]) => Promise.all(ids.map(open));
  const timesAsked = () => asked.map((method) => method.mock.callCount());

  /** Whether one of the two threads did some of it: `own` is the one that asked. */
  const shares = () => {
    const jobs = asked.flatMap(({ mock: { calls } }) => calls.map(({ result }) => result));
    const own = jobs.some((job) => job !== undefined && job.ownPieces > 0);
    return { own, helped: jobs.some((job) => job !== undefined && job.ownPieces < job.pieces) };
  };

  const writeAndCheck = async (drives: readonly FileDrive[], offset: number, bytes: number): Promise<void> => {
    const data = filled(bytes);
    assert.deepEqual(await write(drives, offset, data), sumsOf(data));
    for (const drive of drives) {
      const [into, read] = [allocate(bytes).fill(0xee), new Uint32Array(bytes / BLOCK_BYTES)];
      await drive.large.readSummed(offset, into, read);
      assert.ok(into.equals(data), `${bytes} bytes at ${offset}`);
      assert.deepEqual(read, sumsOf(data));
      release(into);
    }
    release(data);
  };

  for (const bytes of SIZES) {
    it(`write, read and sum ${bytes / KIB} KiB, one after the other and at once`, async () => {
      const drives = await openAll(`a-${bytes}`, `b-${bytes}`);
      for (let turn = 0; turn < 40; turn += 1) await writeAndCheck(drives, (turn % 7) * MIB, bytes);
      for (let turn = 0; turn < 10; turn += 1) {
        await Promise.all([0, 1, 2, 3, 4, 5, 6].map((place) => writeAndCheck(drives, place * MIB, bytes)));
      }
      for (const drive of drives) {
        const { reads, writes } = drive.statistics();
        assert.deepEqual([reads.count, writes.count], [110, 110]);
        assert.deepEqual([reads.bytes, writes.bytes], [110 * bytes, 110 * bytes]);
        await drive.close();
      }
      const [reads = 0, writes = 0] = timesAsked();
      assert.ok(reads > 0 && writes > 0, `asked ${reads} and ${writes} times`);
    });
  }

  it('both take part', async () => {
    const drives = await openAll('shared-a', 'shared-b');
    for (let turn = 0; turn < 2000; turn += 1) {
      await writeAndCheck(drives, (turn % 7) * MIB, MIB);
      const { own, helped } = shares();
      if (own && helped) break;
    }
    assert.deepEqual(shares(), { own: true, helped: true });
    for (const drive of drives) await drive.close();
  });

  it('write more copies than are done together', async () => {
    const drives = await openAll('1', '2', '3', '4', '5');
    await writeAndCheck(drives, 0, MIB);
    assert.ok(asked[1]?.mock.calls.every(({ arguments: [files] }) => (files as unknown as number[]).length === 3));
    for (const drive of drives) await drive.close();
  });

  it('do without the helper what is not in the arena, and what is small', async () => {
    const drives = await openAll('ordinary');
    for (const data of [randomBytes(MIB), filled(4 * BLOCK_BYTES)]) {
      assert.deepEqual(await write(drives, 0, data), sumsOf(data));
      const [into, sums] = [Buffer.alloc(data.length), new Uint32Array(data.length / BLOCK_BYTES)];
      await drives[0]?.large.readSummed(0, into, sums);
      assert.ok(into.equals(data));
      assert.deepEqual(sums, sumsOf(data));
    }
    assert.deepEqual(timesAsked(), [0, 0]);
    await drives[0]?.close();
  });

  it('say that a drive failed when either thread cannot read', async () => {
    const drive = await open('shortened');
    const [into, sums] = [allocate(MIB), new Uint32Array(256)];
    for (const left of [1, 256, 768]) {
      await truncate(drive.path, left * KIB);
      for (let turn = 0; turn < 40; turn += 1) {
        await assert.rejects(async () => drive.large.readSummed(0, into, sums), { code: 'drive-failed' });
      }
    }
    assert.deepEqual([drive.statistics().reads.errors, drive.statistics().reads.count], [120, 0]);
    await drive.close();
    release(into);
  });

  it('wait for the helper also when this thread cannot read its share', async () => {
    const drive = await open('half');
    const data = filled(MIB);
    await write([drive], 0, data);
    mock.method(fs, 'readSync', () => {
      throw systemError('EIO');
    });
    syncBuiltinESMExports();
    const into = allocate(MIB);
    let failure: unknown;
    const read = async () => drive.large.readSummed(0, into, new Uint32Array(256));
    // Until this thread had a share.
    for (let turn = 0; turn < 1000 && failure === undefined; turn += 1)
      await read().catch((error: unknown) => void (failure = error));
    assert.equal((failure as { code?: string } | undefined)?.code, 'drive-failed');
    into.fill(0x55);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.ok(into.every((byte) => byte === 0x55));
    await drive.close();
    release(into);
    release(data);
  });

  for (const name of ['ENOSPC', 'EIO'] as const) {
    const code = name === 'ENOSPC' ? 'no-space' : 'drive-failed';
    it(`write the other copy whole and sum it when one is refused with ${name}`, async () => {
      const drives = await openAll(`bad-${name}`, `good-${name}`);
      const [bad, good] = drives as [FileDrive, FileDrive];
      const writeSync = fs.writeSync.bind(fs) as (fd: number, ...rest: unknown[]) => number;
      mock.method(fs, 'writeSync', (fd: number, ...rest: unknown[]) => {
        if (fd === bad.fd) throw systemError(name);
        return writeSync(fd, ...rest);
      });
      syncBuiltinESMExports();
      const data = filled(MIB);
      const sums = new Uint32Array(256);
      const outcome = new Map<FileDrive, unknown>();
      const holders = drives.map((drive) => ({ drive }));
      const watch = (holder: { drive: FileDrive }, done: Promise<void>): Promise<void> =>
        done.catch((error: unknown) => void outcome.set(holder.drive, error));
      // Until this thread had a piece of it: the helper's calls are its own.
      for (let turn = 0; turn < 1000 && !outcome.has(bad); turn += 1) {
        await Promise.all(writeCopies(holders, 0, data, sums, watch) ?? []);
      }
      assert.equal((outcome.get(bad) as { code?: string } | undefined)?.code, code);
      assert.ok(!outcome.has(good));
      assert.deepEqual(sums, sumsOf(data));
      assert.ok((await readFile(good.path)).subarray(0, MIB).equals(data));
      for (const drive of drives) await drive.close();
      release(data);
    });
  }

  it('get the helper’s error when the disk is full', { skip: !fs.existsSync('/dev/full') }, async () => {
    const helper = HelperThread.get();
    assert.ok(helper);
    const full = fs.openSync('/dev/full', 'r+');
    const data = filled(MIB);
    const job = helper.write([full], 0, data, new Uint32Array(256), false);
    assert.ok(job.ownPieces === 0);
    await helper.ended(job);
    const error = job.copies[0]?.error;
    assert.ok(error && 'code' in error && error.code === 'ENOSPC');
    fs.closeSync(full);
    release(data);
  });

  it('ask no more than there is room for, and all of it is done', async () => {
    const drive = await open('many');
    const helper = HelperThread.get();
    assert.ok(helper);
    const jobs = [];
    const data = filled(BLOCK_BYTES);
    for (; helper.accepts(data) && jobs.length < 1000;) {
      jobs.push(helper.write([drive.fd], (jobs.length % 2000) * BLOCK_BYTES, data, new Uint32Array(1), false));
    }
    await Promise.all(jobs.map((job) => helper.ended(job)));
    assert.ok(helper.accepts(data));
    const file = await readFile(drive.path);
    for (const index of jobs.keys()) {
      assert.ok(file.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES).equals(data), `block ${index}`);
    }
    await drive.close();
    release(data);
  });

  it('do not close a file while either thread is at it', async () => {
    const drive = await open('closed');
    const data = filled(MIB);
    // Closing is asked for at the worst time: before anything of the write is done.
    const begin = drive.begin.bind(drive);
    const closing = new Promise<void>((resolve, reject) => {
      mock.method(drive, 'begin', (operation?: 'reads' | 'writes') => {
        begin(operation);
        drive.close().then(resolve, reject);
      });
    });
    assert.deepEqual(await write([drive], 0, data), sumsOf(data));
    await closing;
    assert.ok((await readFile(drive.path)).subarray(0, MIB).equals(data));
    assert.throws(() => drive.read(0, data), { code: 'closed' });
    release(data);
  });
});

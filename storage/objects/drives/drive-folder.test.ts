import assert from 'node:assert/strict';
import fs from 'node:fs';
import { readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, mock, test } from 'node:test';
import fc from 'fast-check';
import { flip } from '../blobs/testing/blob-scene.ts';
import type { Place } from '../records.ts';
import { DriveFolder } from './drive-folder.ts';
import { formatDrive, readIdentity } from './identity.ts';
import { blockOffset, recordBytes } from './record.ts';
import { systemError } from '../../testing/system-error.ts';
import { DriveScene, pieceOf, UUID } from './testing/drive-scene.ts';

type Callback = (error: Error | null) => void;

afterEach(() => {
  mock.restoreAll();
  syncBuiltinESMExports();
});

async function withScene(run: (scene: DriveScene) => Promise<void>, capacity?: number): Promise<void> {
  const scene = await DriveScene.open(capacity);
  try {
    await run(scene);
  } finally {
    await scene.close();
  }
}

test('pieces of any length are read as they were written, packed or alone, and a walk finds each', async () => {
  const lengths = fc.array(
    fc.oneof(fc.constantFrom(1, 65_535, 65_536, 65_537, 200_000), fc.integer({ min: 1, max: 9000 })),
    { minLength: 1, maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(lengths, fc.boolean(), async (list, alone) => {
      await withScene(async (scene) => {
        const pieces = list.map((length, index) => pieceOf(index, length));
        const places = await Promise.all(
          pieces.map(({ header, data }) => (alone ? scene.putAlone(header, data, 2) : scene.put(header, data))),
        );
        if (!alone) assert.equal(new Set(places.map(({ segment }) => segment)).size, 1);
        for (const [index, { header, data }] of pieces.entries()) {
          assert.ok((await scene.read(places[index]!, header)).equals(data));
          assert.deepEqual(await scene.drive.header(places[index]!), header);
        }
        const found = (
          await Promise.all([...new Set(places.map(({ segment }) => segment))].map((n) => scene.walk(n)))
        ).flat();
        assert.deepEqual(
          found,
          pieces.map(({ header, data }, index) => ({
            ...header,
            place: places[index],
            bytes: recordBytes(data.length),
          })),
        );
        await scene.drive.close();
        const bytes = list.reduce((sum, length) => sum + recordBytes(length), 0);
        assert.equal(scene.drive.usedBytes, bytes);
        assert.equal(
          (await scene.drive.segments()).reduce((sum, segment) => sum + segment.bytes, 0),
          bytes,
        );
      });
    }),
    { numRuns: 20 },
  );
});

test('writers that come at the same time share writes, which are durable when they end', async () => {
  await withScene(async (scene) => {
    const opens = mock.method(fs, 'open');
    const writes = mock.method(fs, 'writev');
    syncBuiltinESMExports();
    const pieces = Array.from({ length: 200 }, (_, index) => pieceOf(index, 4096));
    await Promise.all(pieces.map(({ header, data }) => scene.put(header, data)));
    assert.ok(writes.mock.callCount() <= 3, `${writes.mock.callCount()} writes`);
    const flags = opens.mock.calls.map((call): unknown => call.arguments[1]);
    assert.equal(flags.length, 1);
    assert.equal(Number(flags[0]) & fs.constants.O_DSYNC, fs.constants.O_DSYNC);
    const { put } = scene.drive.activity();
    assert.equal(put.operations, 200);
    assert.equal(put.bytes, 200 * 4096);
    assert.ok(put.milliseconds > 0);
  });
});

test('a range of blocks is read alone, and damage elsewhere does not matter to it', async () => {
  await withScene(async (scene) => {
    const { header, data } = pieceOf(1, 300_000);
    const place = await scene.put(header, data);
    await flip(scene.path(place), place.offset + blockOffset(3) + 10);
    assert.ok((await scene.read(place, header, 1, 3)).equals(data.subarray(65_536, 3 * 65_536)));
    assert.ok((await scene.read(place, header, 4, 5)).equals(data.subarray(4 * 65_536)));
    await assert.rejects(scene.read(place, header, 3, 4), { code: 'unreadable' });
    await assert.rejects(scene.read(place, header), { code: 'unreadable' });
  });
});

test('blocks of another blob, another slot or another place in the piece are noticed', async () => {
  await withScene(async (scene) => {
    const { header, data } = pieceOf(1, 200_000);
    const place = await scene.put(header, data.fill(7));
    await assert.rejects(scene.read(place, { ...header, slot: 1 }), { code: 'unreadable' });
    await assert.rejects(scene.read(place, pieceOf(2, 200_000).header), { code: 'unreadable' });
    const file = fs.readFileSync(scene.path(place));
    const block = blockOffset(2) - blockOffset(1);
    file.copy(file, blockOffset(1), blockOffset(0), blockOffset(0) + block);
    fs.writeFileSync(scene.path(place), file);
    assert.ok(await scene.read(place, header, 0, 1));
    await assert.rejects(scene.read(place, header, 1, 2), { code: 'unreadable' });
  });
});

test('small pieces are written over zeros, which a walk passes over and a closed drive gives back', async () => {
  await withScene(async (scene) => {
    const { drive } = scene;
    const length = async () => (await drive.segments()).reduce((sum, segment) => sum + segment.bytes, 0);
    const pieces = Array.from({ length: 300 }, (_, index) => pieceOf(index, 4096));
    const lengths = new Set<number>();
    for (const { header, data } of pieces) {
      await scene.put(header, data);
      lengths.add(await length());
      assert.ok(drive.usedBytes >= (await length()));
    }
    assert.ok(lengths.size < pieces.length / 2, `the file grew ${lengths.size} times`);
    const [segment] = drive.writtenSegments;
    assert.equal((await scene.walk(segment!)).length, pieces.length);
    await drive.close();
    assert.deepEqual([drive.usedBytes, await length()], Array(2).fill(pieces.length * recordBytes(4096)));
  });
});

/** Enough small pieces that zeros are written ahead of the next. */
async function putUntilFilled(scene: DriveScene): Promise<Place> {
  const pieces = Array.from({ length: 20 }, (_, index) => pieceOf(index, 4096));
  let last: Place | undefined;
  for (const { header, data } of pieces) last = await scene.put(header, data);
  return last!;
}

test('zeros that cannot be written are done without', async () => {
  await withScene(async (scene) => {
    const real = fs.writev;
    mock.method(fs, 'writev', (...parameters: Parameters<typeof fs.writev>) => {
      if (parameters[1][0]?.byteLength === 2 ** 20) (parameters[3] as Callback)(systemError('ENOSPC'));
      else real(...parameters);
    });
    syncBuiltinESMExports();
    const place = await putUntilFilled(scene);
    assert.equal(scene.drive.usedBytes, 20 * recordBytes(4096));
    assert.deepEqual(scene.drive.writtenSegments, [place.segment], 'the segment is written to as before');
  });
});

test('zeros that the drive fails to write are reported by the next write, and the segment is not trusted again', async () => {
  await withScene(async (scene) => {
    const real = fs.writev;
    const failed = Promise.withResolvers<number>();
    mock.method(fs, 'writev', (...parameters: Parameters<typeof fs.writev>) => {
      if (parameters[1][0]?.byteLength !== 2 ** 20) {
        real(...parameters);
        return;
      }
      (parameters[3] as Callback)(systemError('EIO'));
      failed.resolve(parameters[0]);
    });
    const opens = mock.method(fs, 'open');
    syncBuiltinESMExports();
    const { header, data } = pieceOf(100, 4096);
    for (let count = 0; count < 16; count += 1) await scene.put(header, data);
    const [before] = scene.drive.writtenSegments;
    await failed.promise;
    assert.equal(opens.mock.callCount(), 2, 'zeros have a descriptor of their own: one failure is reported to each');
    await assert.rejects(scene.put(header, data), { code: 'drive-failed' });
    assert.notEqual((await scene.put(header, data)).segment, before);
  });
});

test('a drive that is closed ends the write under way and sends away those who wait behind it', async () => {
  await withScene(async (scene) => {
    const real = fs.writev;
    const begun = Promise.withResolvers<() => void>();
    mock.method(fs, 'writev', (...parameters: Parameters<typeof fs.writev>) =>
      begun.resolve(() => real(...parameters)),
    );
    syncBuiltinESMExports();
    const { header, data } = pieceOf(1, 4096);
    const first = scene.put(header, data);
    const goOn = await begun.promise;
    const second = assert.rejects(scene.put(header, data), { code: 'closed' });
    const closed = scene.drive.close();
    await second;
    goOn();
    await first;
    await closed;
    assert.equal((await scene.drive.segments()).length, 1);
  });
});

test('zeros that never arrive fail the write that waits for them, and the next goes to another segment', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  await withScene(async (scene) => {
    const stuck: (() => void)[] = [];
    const real = fs.writev;
    mock.method(fs, 'writev', (...parameters: Parameters<typeof fs.writev>) => {
      if (parameters[1][0]?.byteLength === 2 ** 20) stuck.push(() => real(...parameters));
      else real(...parameters);
    });
    syncBuiltinESMExports();
    const { header, data } = pieceOf(100, 4096);
    const pieces = Array.from({ length: 16 }, (_, index) => pieceOf(index, 4096));
    for (const piece of pieces) await scene.put(piece.header, piece.data);
    const [before] = scene.drive.writtenSegments;
    while (stuck.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const put = { isOver: false };
    const waiting = assert.rejects(scene.put(header, data), { code: 'drive-failed' }).then(() => (put.isOver = true));
    for (let seconds = 0; !put.isOver && seconds < 100_000; seconds += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      mock.timers.tick(1_000);
    }
    await waiting;
    const after = await scene.put(header, data);
    assert.notEqual(after.segment, before);
    stuck.forEach((goOn) => goOn());
  });
});

test('a segment removed while it is written to gives its room back once', async () => {
  await withScene(async (scene) => {
    const { segment } = await putUntilFilled(scene);
    await scene.drive.removeSegment(segment);
    const { header, data } = pieceOf(100, 4096);
    await assert.rejects(scene.put(header, data), { code: 'drive-failed' });
    await scene.drive.close();
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(scene.drive.usedBytes, 0);
  });
});

test('a segment cut off anywhere walks clean: whole records are found, and the torn one is none', async () => {
  await withScene(async (scene) => {
    const pieces = Array.from({ length: 8 }, (_, index) => pieceOf(index, 1000 * (index + 1)));
    const places: Place[] = [];
    for (const { header, data } of pieces) places.push(await scene.put(header, data));
    const { segment } = places[0]!;
    await scene.restart();
    let whole = places.length;
    for (let size = (await stat(scene.path({ segment }))).size - 1; size > 0; size -= 997) {
      await truncate(scene.path({ segment }), size);
      while (whole > 0 && places[whole - 1]!.offset + recordBytes(whole * 1000) > size) whole -= 1;
      assert.deepEqual(
        (await scene.walk(segment)).map(({ place }) => place),
        places.slice(0, whole),
      );
    }
    await assert.rejects(scene.read(places[7]!, pieces[7]!.header), { code: 'unreadable' });
  });
});

test('a walk passes over a damaged header and finds the records behind it', async () => {
  await withScene(async (scene) => {
    const pieces = Array.from({ length: 5 }, (_, index) => pieceOf(index, 70_000));
    const places = await Promise.all(pieces.map(({ header, data }) => scene.put(header, data)));
    await flip(scene.path(places[1]!), places[1]!.offset + 20);
    const found = (await scene.walk(places[0]!.segment)).map(({ place }) => place);
    assert.deepEqual(found, [places[0], ...places.slice(2)]);
    assert.equal(await scene.drive.header(places[1]!), undefined);
  });
});

test('a header copied to another place is none', async () => {
  await withScene(async (scene) => {
    const { header, data } = pieceOf(3, 5000);
    const place = await scene.put(header, data);
    await writeFile(scene.path({ segment: 99 }), fs.readFileSync(scene.path(place)));
    assert.deepEqual(await scene.walk(99), []);
  });
});

test('a start never goes on with an old segment', async () => {
  await withScene(async (scene) => {
    const { header, data } = pieceOf(1, 100);
    const before = await scene.put(header, data);
    await scene.restart();
    const after = await scene.put(header, data);
    assert.notEqual(before.segment, after.segment);
    assert.ok((await scene.read(before, header)).equals(data));
  });
});

test('a removed segment is not found, gives its room back, and removing it again is no error', async () => {
  await withScene(async (scene) => {
    const { header, data } = pieceOf(1, 5000);
    const place = await scene.putAlone(header, data, 1);
    await scene.read(place, header);
    assert.equal(await scene.drive.removeSegment(place.segment), recordBytes(5000));
    assert.equal(scene.drive.usedBytes, 0);
    assert.equal(await scene.drive.removeSegment(place.segment), 0);
    await assert.rejects(scene.read(place, header), { code: 'not-found' });
    await assert.rejects(scene.walk(place.segment), { code: 'not-found' });
    assert.equal(scene.drive.activity().delete.operations, 1);
  });
});

test('an aborted segment leaves no file and takes no room', async () => {
  await withScene(async (scene) => {
    const segment = await scene.drive.dedicate();
    await segment.write({ buffers: [Buffer.alloc(1000)], bytes: 1000 });
    assert.deepEqual(scene.drive.writtenSegments, [segment.number]);
    await segment.abort();
    assert.deepEqual(await readdir(join(scene.folder, 'segments')), []);
    assert.equal(scene.drive.usedBytes, 0);
    assert.deepEqual(scene.drive.writtenSegments, []);
  });
});

test('a folder wiped while it is written is noticed at the next write', async () => {
  await withScene(async (scene) => {
    const { header, data } = pieceOf(1, 5000);
    await scene.put(header, data);
    const alone = await scene.drive.dedicate();
    await rm(scene.folder, { recursive: true });
    await assert.rejects(scene.put(header, data), { code: 'drive-failed' });
    await assert.rejects(alone.finish(header), { code: 'drive-failed' });
    await alone.abort();
    await assert.rejects(scene.put(header, data), { code: 'drive-failed' });
    await assert.rejects(scene.drive.check(), { code: 'drive-failed', message: /wiped/ });
  });
});

test('a full drive refuses with no-space, and takes what fits', async () => {
  await withScene(async (scene) => {
    const large = pieceOf(1, 60_000);
    const small = pieceOf(2, 1000);
    await assert.rejects(scene.put(large.header, large.data), { code: 'no-space' });
    const place = await scene.put(small.header, small.data);
    assert.ok((await scene.read(place, small.header)).equals(small.data));
    await assert.rejects(scene.putAlone(large.header, large.data, 1), { code: 'no-space' });
  }, 50_000);
});

test('a full drive lets go of the segment it wrote to, so that its room can come back', async () => {
  await withScene(async (scene) => {
    const small = pieceOf(1, 1000);
    const large = pieceOf(2, 60_000);
    const { segment } = await scene.put(small.header, small.data);
    assert.deepEqual(scene.drive.writtenSegments, [segment]);
    await assert.rejects(scene.put(large.header, large.data), { code: 'no-space' });
    assert.deepEqual(scene.drive.writtenSegments, []);
    await scene.drive.removeSegment(segment);
    assert.equal(scene.drive.usedBytes, 0);
    assert.notEqual((await scene.put(small.header, small.data)).segment, segment);
  }, 50_000);
});

test('what replaces a piece of a full drive is taken, so that the drive can be tidied up', async () => {
  await withScene(async (scene) => {
    const { header, data } = pieceOf(1, 40_000);
    await scene.put(header, data);
    const [refused, taken] = await Promise.allSettled([scene.put(header, data), scene.put(header, data, true)]);
    assert.equal(refused.status, 'rejected');
    assert.equal(taken.status, 'fulfilled');
  }, 50_000);
});

for (const [code, expected] of [
  ['ENOSPC', 'no-space'],
  ['EDQUOT', 'no-space'],
  ['EIO', 'drive-failed'],
] as const) {
  test(`a write that fails with ${code} is ${expected}, and the segment is not written to again`, async () => {
    await withScene(async (scene) => {
      const { header, data } = pieceOf(1, 5000);
      const before = await scene.put(header, data);
      mock.method(fs, 'writev', (_fd: number, _buffers: unknown, _at: number, done: Callback) =>
        done(systemError(code)),
      );
      syncBuiltinESMExports();
      await assert.rejects(scene.put(header, data), { code: expected });
      await assert.rejects(scene.put(header, pieceOf(1, 500_000).data), { code: expected });
      mock.restoreAll();
      syncBuiltinESMExports();
      const after = await scene.put(header, data);
      assert.notEqual(after.segment, before.segment);
      assert.ok((await scene.read(before, header)).equals(data));
      assert.ok((await scene.read(after, header)).equals(data));
    });
  });
}

test('a write that fails fails all of its batch, and the segment is not trusted again', async () => {
  await withScene(async (scene) => {
    const pieces = Array.from({ length: 5 }, (_, index) => pieceOf(index, 3000));
    const before = await scene.put(pieces[0]!.header, pieces[0]!.data);
    mock.method(fs, 'writev', (_fd: number, _buffers: unknown, _at: number, done: Callback) =>
      done(systemError('EIO')),
    );
    syncBuiltinESMExports();
    const results = await Promise.allSettled(pieces.map(({ header, data }) => scene.put(header, data)));
    assert.ok(results.every(({ status }) => status === 'rejected'));
    mock.restoreAll();
    syncBuiltinESMExports();
    const after = await scene.put(pieces[1]!.header, pieces[1]!.data);
    assert.notEqual(after.segment, before.segment);
  });
});

test('a folder is opened only as the drive it is, and formatted only once', async () => {
  await withScene(async (scene) => {
    const { folder } = scene;
    assert.deepEqual(await readIdentity(folder), { uuid: UUID, number: 7 });
    await assert.rejects(formatDrive(folder, { uuid: UUID, number: 8 }), { code: 'conflict' });
    const options = { folder, capacity: 1000, nextSegment: () => Promise.resolve(1) };
    await assert.rejects(DriveFolder.open({ ...options, uuid: UUID, number: 8 }), { code: 'drive-failed' });
    await assert.rejects(DriveFolder.open({ ...options, uuid: 'other', number: 7 }), { code: 'drive-failed' });
    await writeFile(join(folder, 'drive.json'), '{"format":9}');
    await assert.rejects(readIdentity(folder), { code: 'drive-failed', message: /another version/ });
    assert.equal(await readIdentity(join(folder, 'nowhere')), undefined);
  });
});

test('threads that share the counter of used bytes share the capacity', async () => {
  await withScene(async (scene) => {
    const { folder } = scene;
    const nextSegment = () => Promise.resolve(1000);
    const usedBytes = scene.drive.usedCounter;
    const other = await DriveFolder.open({ number: 7, uuid: UUID, folder, capacity: 10_000, usedBytes, nextSegment });
    const { header, data } = pieceOf(1, 6000);
    await scene.put(header, data);
    assert.equal(other.usedBytes, scene.drive.usedBytes);
    await assert.rejects(other.append(header, { buffers: [data], bytes: 6016 }), { code: 'no-space' });
    await other.close();
  }, 10_000);
});

test('a closed drive refuses', async () => {
  await withScene(async (scene) => {
    const { header, data } = pieceOf(1, 100);
    const place = await scene.put(header, data);
    await scene.drive.close();
    await assert.rejects(scene.put(header, data), { code: 'closed' });
    await assert.rejects(scene.read(place, header), { code: 'closed' });
  });
});

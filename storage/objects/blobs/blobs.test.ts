import assert from 'node:assert/strict';
import fs from 'node:fs';
import { readFile, rm, unlink } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, mock, test } from 'node:test';
import { InlineGate } from '../../drive/inline-gate.ts';
import { bytesFrom } from '../../kernels/testing/buffers.ts';
import type { BlobRecord, PolicyLayout } from '../records.ts';
import { pieceBytesOf, pieceLength, writeQuorum } from './pieces.ts';
import { BlobScene, collected, copies, fragments, inChunks, type SceneOptions } from './testing/blob-scene.ts';

const MEBIBYTE = 1024 * 1024;
const KEY = { number: 5, key: bytesFrom(4, 32) };

afterEach(() => {
  mock.restoreAll();
  syncBuiltinESMExports();
});

async function withScene(options: SceneOptions, run: (scene: BlobScene) => Promise<void>): Promise<void> {
  const scene = await BlobScene.open(options);
  try {
    await run(scene);
  } finally {
    await scene.close();
  }
}

async function whole(scene: BlobScene, record: BlobRecord): Promise<Buffer> {
  return Buffer.from(await scene.reader.readWhole(record, scene.policy));
}

function goodPlaces(record: BlobRecord): number {
  return record.places.filter((place) => place !== null).length;
}

test('a piece has the bytes of its copy, or its share of every stripe', () => {
  const sizes = [1, 65_536, 65_537, MEBIBYTE, 5 * MEBIBYTE + 3];
  assert.deepEqual(
    sizes.map((size) => pieceLength(size, copies(2))),
    sizes,
  );
  assert.deepEqual(
    sizes.map((size) => pieceLength(size, fragments(4, 2))),
    [1, 16_384, 16_385, 262_144, 1_310_721],
  );
  assert.equal(pieceBytesOf(4096, copies(2)), 64 + 4096 + 64);
  assert.equal(pieceBytesOf(130_000, copies(2)), Math.ceil((64 + 130_000 + 8) / 64) * 64);
});

test('small bodies of the same moment are on the same drives, and are read from all of them', async () => {
  mock.method(performance, 'now', () => 0);
  await withScene({ policy: copies(2), spare: 6 }, async (scene) => {
    const records = await Promise.all(Array.from({ length: 64 }, (_, seed) => scene.stage(bytesFrom(seed, 100))));
    const drives = new Set(records.flatMap(({ places }) => places.map((place) => place?.drive)));
    assert.equal(drives.size, 2);
    for (const record of records) await whole(scene, record);
    const reads = [...scene.drives.activity().values()].map(({ get }) => get.operations);
    assert.equal(reads.filter((operations) => operations > 0).length, 2);
  });
});

test('a quorum is half of the copies rounded up, or one fragment more than the data has', () => {
  assert.deepEqual(
    [1, 2, 3].map((count) => writeQuorum(copies(count))),
    [1, 1, 2],
  );
  assert.deepEqual([fragments(2, 1), fragments(4, 2), fragments(3, 0)].map(writeQuorum), [3, 5, 3]);
});

for (const policy of [copies(2), copies(3), fragments(2, 1), fragments(4, 2)]) {
  for (const size of [5000, 3 * MEBIBYTE]) {
    test(`${policy.name}, ${size} bytes: a piece of a wiped drive goes to another drive`, () => {
      // A drive that failed is tried again after some seconds: all turns take place before that, however long they take.
      let now = 0;
      mock.method(performance, 'now', () => now);
      return withScene({ policy, spare: 1 }, async (scene) => {
        await rm(scene.folderOf(2), { recursive: true });
        for (let turn = 0; turn < 6; turn += 1) {
          now += 10;
          const body = bytesFrom(turn + 1, size);
          const record = await scene.stage(body);
          assert.ok(record.places.every((place) => place && place.drive !== 2));
          assert.equal(new Set(record.places.map((place) => place!.drive)).size, record.places.length);
          assert.ok((await whole(scene, record)).equals(body));
        }
        assert.ok(scene.failures.length <= 1 && scene.failures.every(({ drive }) => drive === 2));
      });
    });
  }
}

for (const [policy, mayMiss] of [
  [copies(2), 1],
  [copies(3), 1],
  [fragments(4, 2), 1],
] as const) {
  for (const size of [5000, 3 * MEBIBYTE]) {
    test(`${policy.name}, ${size} bytes: ${mayMiss} pieces may be missing, more is no-quorum and leaves no place`, () =>
      withScene({ policy }, async (scene) => {
        await rm(scene.folderOf(1), { recursive: true });
        const body = bytesFrom(3, size);
        const record = await scene.stage(body);
        assert.equal(goodPlaces(record), record.places.length - mayMiss);
        assert.ok((await whole(scene, record)).equals(body));
        for (const { number } of scene.layout.drives)
          await rm(scene.folderOf(number), { recursive: true, force: true });
        await assert.rejects(scene.stage(body), { name: 'ObjectError', code: 'no-quorum' });
      }));
  }
}

test('drives without room give no-space, and nothing of a large body stays', () =>
  withScene({ policy: copies(2), capacity: 2 * MEBIBYTE }, async (scene) => {
    await assert.rejects(scene.stage(bytesFrom(1, 3 * MEBIBYTE)), { name: 'ObjectError', code: 'no-space' });
    assert.deepEqual(await scene.segmentFiles(), []);
    await scene.stage(bytesFrom(1, MEBIBYTE));
    await assert.rejects(scene.stage(bytesFrom(1, MEBIBYTE)), { name: 'ObjectError', code: 'no-space' });
    assert.deepEqual(scene.failures, []);
  }));

test('a drive that fails in the middle of a large body loses its piece, and the write goes on', () =>
  withScene({ policy: copies(3) }, async (scene) => {
    const body = bytesFrom(8, 4 * MEBIBYTE);
    async function* wipingOnTheWay(): AsyncGenerator<Uint8Array> {
      yield body.subarray(0, 2 * MEBIBYTE);
      await rm(scene.folderOf(1), { recursive: true });
      yield body.subarray(2 * MEBIBYTE);
    }
    const record = await scene.stage(wipingOnTheWay());
    assert.equal(goodPlaces(record), 2);
    assert.deepEqual(
      scene.failures.map(({ drive }) => drive),
      [1],
    );
    assert.ok((await whole(scene, record)).equals(body));
  }));

for (const size of [3000, 3 * MEBIBYTE]) {
  test(`a body of ${size} bytes that throws leaves no file behind`, () =>
    withScene({ policy: copies(2) }, async (scene) => {
      async function* throwing(): AsyncGenerator<Uint8Array> {
        yield* inChunks(bytesFrom(1, size), 100_000);
        throw new Error('the client went away');
      }
      for (const announced of [undefined, size * 2]) {
        await assert.rejects(scene.stage(throwing(), announced), /the client went away/);
        assert.deepEqual(await scene.segmentFiles(), []);
        for (const { number } of scene.layout.drives) assert.equal(scene.drives.get(number)!.usedBytes, 0);
      }
    }));
}

test('a body of another size than was said is refused, and so is one above 5 GiB', () =>
  withScene({ policy: copies(2) }, async (scene) => {
    for (const [size, announced] of [
      [100, 99],
      [100, 101],
      [100, 2 * MEBIBYTE],
      [2 * MEBIBYTE, 100],
      [2 * MEBIBYTE, 2 * MEBIBYTE + 1],
      [2 * MEBIBYTE, 2 * MEBIBYTE - 1],
    ] as const) {
      const body = bytesFrom(1, size);
      await assert.rejects(scene.stage(body, announced), { code: 'incomplete-body' });
      await assert.rejects(scene.stage(inChunks(body, 65_536), announced), { code: 'incomplete-body' });
    }
    await assert.rejects(scene.stage(bytesFrom(1, 10), 5 * 1024 ** 3 + 1), { code: 'too-large' });
    assert.deepEqual(await scene.segmentFiles(), []);
  }));

test('an empty body is no blob, and a policy that is not there is refused', () =>
  withScene({ policy: copies(2) }, async (scene) => {
    assert.deepEqual(await scene.writer.stage(scene.policy.index, new Uint8Array(0)), []);
    assert.deepEqual(await scene.writer.stage(scene.policy.index, inChunks(new Uint8Array(0), 1), 0), []);
    await assert.rejects(scene.writer.stage(9, bytesFrom(1, 10)), { code: 'no-such-policy' });
  }));

for (const policy of [copies(2), fragments(4, 2)]) {
  test(`${policy.name}: encrypted bytes are nowhere in plain, and without the key they are locked but can be repaired`, () =>
    withScene({ policy, spare: 1 }, async (scene) => {
      scene.encrypt({ writeKey: 5, keys: [KEY] });
      const body = Buffer.from('a secret that nobody may read '.repeat(3000));
      const large = Buffer.from('another one that is much longer '.repeat(60_000));
      const records = [await scene.stage(body), await scene.stage(inChunks(large, 100_000))];
      for (const place of records.flatMap((record) => record.places)) {
        const file = await readFile(scene.segmentPath(place!));
        assert.ok(!file.includes('secret') && !file.includes('longer'));
      }
      scene.encrypt({ writeKey: 5, keys: [] });
      await assert.rejects(whole(scene, records[0]!), { name: 'ObjectError', code: 'encryption-locked' });
      await assert.rejects(collected(scene.reader.read(records[1]!, policy)), { code: 'encryption-locked' });
      await assert.rejects(scene.stage(body), { code: 'encryption-locked' });
      // What has no bytes needs no key.
      assert.deepEqual(await scene.writer.stage(0, Buffer.alloc(0), 0), []);
      assert.deepEqual(await scene.writer.stage(0, nothing(), 0), []);
      const repaired = await Promise.all(records.map((record) => repairSlot(scene, record, 0)));
      scene.encrypt({ writeKey: 0, keys: [KEY] });
      assert.ok((await whole(scene, repaired[0]!)).equals(body));
      assert.ok((await collected(scene.reader.read(repaired[1]!, policy))).equals(large));
      const plain = await scene.stage(body);
      assert.equal(plain.key, 0);
      assert.ok((await whole(scene, plain)).equals(body));
    }));
}

/** Removes a piece and builds it anew on a drive that has none of the blob. */
async function repairSlot(scene: BlobScene, record: BlobRecord, slot: number): Promise<BlobRecord> {
  const used = new Set(record.places.map((place) => place!.drive));
  const target = scene.layout.drives.find(({ number }) => !used.has(number))!.number;
  const without = { ...record, places: record.places.map((place, index) => (index === slot ? null : place)) };
  const { place } = await scene.builder.rebuild(without, slot, target);
  assert.equal(place.drive, target);
  return { ...record, places: record.places.map((old, index) => (index === slot ? place : index > 0 ? old : null)) };
}

for (const [policy, most] of [
  [copies(2), 1],
  [fragments(4, 2), 2],
] as const) {
  for (const size of [5000, 3 * MEBIBYTE]) {
    test(`${policy.name}, ${size} bytes: with more than ${most} pieces damaged a read is unreadable, never wrong`, () =>
      withScene({ policy }, async (scene) => {
        const record = await scene.stage(bytesFrom(7, size));
        for (let slot = 0; slot <= most; slot += 1) await scene.damage(record, slot, 10);
        await assert.rejects(whole(scene, record), { name: 'ObjectError', code: 'unreadable' });
        await assert.rejects(collected(scene.reader.read(record, policy)), { code: 'unreadable' });
        assert.deepEqual([...new Set(scene.damages.map(({ slot }) => slot))].sort(), [0, 1, 2].slice(0, most + 1));
        await assert.rejects(scene.builder.rebuild(record, 0, 1), { code: 'unreadable' });
      }));
  }
}

for (const [policy, waits] of [
  [copies(1), false],
  [copies(1), true],
  [fragments(2, 1), false],
  [fragments(2, 1), true],
] as const) {
  const how = waits ? 'by threads' : 'on the spot';
  test(`${policy.name}: a piece that was moved meanwhile is read ${how} where the index says now`, () =>
    withScene({ policy, spare: 1 }, async (scene) => {
      if (waits) mock.method(InlineGate.prototype, 'allows', () => false);
      const body = bytesFrom(5, 3 * MEBIBYTE);
      const record = await scene.stage(body);
      const moved: BlobRecord = { ...record, places: await moveAll(scene, record) };
      scene.lookup = () => moved;
      await scene.restart();
      assert.ok((await whole(scene, record)).equals(body));
      assert.ok((await collected(scene.reader.read(record, policy))).equals(body));
      assert.deepEqual(scene.damages, []);
    }));
}

async function moveAll(scene: BlobScene, record: BlobRecord): Promise<BlobRecord['places']> {
  const places = [];
  for (const [slot, place] of record.places.entries()) {
    places.push((await scene.builder.rebuild(record, slot, place!.drive)).place);
    await unlink(scene.segmentPath(place!));
  }
  return places;
}

// oxlint-disable-next-line require-yield -- an empty body
async function* nothing(): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
}

async function putMany(scene: BlobScene, policy: PolicyLayout): Promise<void> {
  const stored: { record: BlobRecord; body: Buffer }[] = [];
  let wiped = false;
  await Promise.all(
    Array.from({ length: 8 }, async (_, worker) => {
      for (let turn = 0; turn < 12; turn += 1) {
        const body = bytesFrom(worker * 100 + turn, turn % 6 === 5 ? 1_500_000 : 10_000);
        stored.push({ record: await scene.stage(inChunks(body, 70_000)), body });
        if (stored.length > 40 && !wiped) {
          wiped = true;
          await rm(scene.folderOf(1), { recursive: true, maxRetries: 20 });
          await scene.drives.update({
            ...scene.layout,
            drives: scene.layout.drives.filter(({ number }) => number !== 1),
          });
        }
        const { record, body: expected } = stored[(worker * 31 + turn * 7) % stored.length]!;
        assert.ok((await collected(scene.reader.read(record, policy))).equals(expected));
      }
    }),
  );
  for (const { record, body } of stored) assert.ok((await whole(scene, record)).equals(body));
}

for (const policy of [copies(2), fragments(4, 2)]) {
  test(`${policy.name}: no read and no write fails when a drive is wiped under load`, async () => {
    await withScene({ policy, spare: 2 }, (scene) => putMany(scene, policy));
    mock.method(InlineGate.prototype, 'allows', () => false);
    await withScene({ policy, spare: 2 }, (scene) => putMany(scene, policy));
  });
}

test('a drive whose disk answers no more is given up after a while', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  await withScene({ policy: copies(2) }, async (scene) => {
    const body = bytesFrom(1, 200_000);
    const first = await scene.stage(body);
    const stuck: (() => void)[] = [];
    const real = fs.writev;
    mock.method(fs, 'writev', (...parameters: Parameters<typeof fs.writev>) => {
      if (stuck.length === 0) stuck.push(() => real(...parameters));
      else real(...parameters);
    });
    syncBuiltinESMExports();
    const staging = scene.stage(body);
    const puts = () => [...scene.drives.activity().values()].reduce((sum, { put }) => sum + put.operations, 0);
    while (puts() < 3) await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 31; turn += 1) mock.timers.tick(1_000);
    const record = await staging;
    assert.equal(goodPlaces(record), 1);
    assert.equal(scene.failures.length, 1);
    assert.match(scene.failures[0]!.error.message, /did not answer/);
    stuck.forEach((goOn) => goOn());
    assert.ok((await whole(scene, record)).equals(body));
    assert.ok((await whole(scene, first)).equals(body));
  });
});

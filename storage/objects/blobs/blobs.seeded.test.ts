import assert from 'node:assert/strict';
import { unlink } from 'node:fs/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import { rounds } from '../../../testing/effort.ts';
import { bytesFrom } from '../../kernels/testing/buffers.ts';
import type { BlobRecord } from '../records.ts';
import { slotsOf } from './pieces.ts';
import { BlobScene, collected, copies, fragments, inChunks } from './testing/blob-scene.ts';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

const anySize = fc.oneof(
  fc.constantFrom(0, 1, 4096, 65_535, 65_536, 65_537, MEBIBYTE - 1, MEBIBYTE, MEBIBYTE + 1),
  fc.integer({ min: 1, max: 300 * KIBIBYTE }),
  fc.integer({ min: MEBIBYTE, max: 5 * MEBIBYTE }),
);

const anyStory = fc.record({
  size: anySize,
  seed: fc.integer({ min: 1, max: 0x7fffffff }),
  as: fc.constantFrom('bytes', 'stream', 'stream of known size'),
  chunk: fc.constantFrom(1000, 65_536, 100_001, 2 * MEBIBYTE),
  encrypted: fc.boolean(),
  ranges: fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 4 }),
  /** Slots in the order in which their pieces are lost. */
  lost: fc.array(fc.nat(20), { minLength: 4, maxLength: 4 }),
  losses: fc.nat(3),
  how: fc.array(fc.tuple(fc.constantFrom('damage', 'remove'), fc.nat()), { minLength: 4, maxLength: 4 }),
});
type Story = typeof anyStory extends fc.Arbitrary<infer T> ? T : never;

const ENCRYPTION = { writeKey: 2, keys: [{ number: 2, key: bytesFrom(99, 32) }] };

async function lose(scene: BlobScene, record: BlobRecord, story: Story, most: number): Promise<number[]> {
  const slots = [...new Set(story.lost.map((slot) => slot % slotsOf(scene.policy)))].slice(
    0,
    Math.min(story.losses, most),
  );
  for (const [index, slot] of slots.entries()) {
    const [how, at] = story.how[index]!;
    if (how === 'damage') await scene.damage(record, slot, at);
    else await unlink(scene.segmentPath(record.places[slot]!)).catch(() => undefined);
  }
  return slots;
}

async function assertReads(scene: BlobScene, record: BlobRecord, body: Buffer, story: Story): Promise<void> {
  const { reader, policy } = scene;
  assert.ok((await collected(reader.read(record, policy))).equals(body), 'the stream differs');
  assert.ok(Buffer.compare(await reader.readWhole(record, policy), body) === 0, 'the whole differs');
  for (const [left, right] of story.ranges) {
    const [start, end] = [left % (body.length + 1), right % (body.length + 1)].sort((a, b) => a - b) as [
      number,
      number,
    ];
    const expected = body.subarray(start, end);
    assert.ok((await collected(reader.read(record, policy, { start, end }))).equals(expected), `${start} to ${end}`);
    assert.ok(Buffer.compare(await reader.readWhole(record, policy, { start, end }), expected) === 0);
  }
}

for (const [policy, most] of [
  [copies(1), 0],
  [copies(2), 1],
  [copies(3), 2],
  [fragments(2, 1), 1],
  [fragments(4, 2), 2],
  [fragments(6, 3), 3],
] as const) {
  test(`${policy.name}: what was staged is read, whole and in ranges, with up to ${most} pieces lost or damaged`, async () => {
    await fc.assert(
      fc.asyncProperty(anyStory, async (story) => {
        const scene = await BlobScene.open({ policy, spare: 1 });
        try {
          if (story.encrypted) scene.encrypt(ENCRYPTION);
          const body = bytesFrom(story.seed, story.size);
          const chunks = () => inChunks(body, story.chunk);
          const staged = await scene.writer.stage(
            policy.index,
            story.as === 'bytes' ? body : chunks(),
            story.as === 'stream of known size' ? body.length : undefined,
          );
          assert.equal(staged.length, story.size === 0 ? 0 : 1);
          const [record] = staged;
          if (!record) return;
          assert.equal(record.size, body.length);
          assert.ok(record.places.every((place) => place !== null));
          await assertReads(scene, record, body, story);
          const lost = await lose(scene, record, story, most);
          await scene.restart();
          await assertReads(scene, record, body, story);
          const reported = new Set(scene.damages.map(({ slot }) => slot));
          assert.ok(reported.isSubsetOf(new Set(lost)), 'a good piece was reported');
          assert.deepEqual(scene.failures, []);
          for (const slot of lost) await assertMended(scene, record, slot);
        } finally {
          await scene.close();
        }
      }),
      { numRuns: rounds({ quick: 3, long: 10, torture: 10 }), endOnFailure: true },
    );
  });
}

async function assertMended(scene: BlobScene, record: BlobRecord, slot: number): Promise<void> {
  assert.equal(await scene.builder.isGood(record, slot), false);
  const { place, pieceBytes } = await scene.builder.rebuild(record, slot, record.places[slot]!.drive);
  assert.equal(pieceBytes, (record as BlobRecord & { pieceBytes: number }).pieceBytes);
  const repaired = { ...record, places: record.places.map((old, index) => (index === slot ? place : old)) };
  assert.ok(await scene.builder.isGood(repaired, slot), 'the rebuilt piece is bad');
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BLOCK_BYTES } from '../../units.ts';
import { CHUNK_BYTES, copyPart, isZeros, pack, unpack } from './codec.ts';
import { noise, prose } from './testing/scene.ts';

async function stored(chunk: Buffer, compression: boolean): Promise<Buffer> {
  const packed = await pack(chunk, compression);
  const into = Buffer.alloc(packed.blocks * BLOCK_BYTES, 0xdd);
  packed.layOut(into);
  return into;
}

async function restored(bytes: Buffer): Promise<Buffer> {
  if (bytes.length === CHUNK_BYTES) return bytes;
  const chunk = Buffer.alloc(CHUNK_BYTES, 0xcc);
  copyPart(await unpack(bytes), 0, chunk);
  return chunk;
}

test('whatever is packed comes back, in no more blocks than it had', async () => {
  const piece = fc.record({ text: fc.boolean(), blocks: fc.integer({ min: 0, max: 8 }), seed: fc.nat({ max: 99 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 4 }), fc.boolean(), async (pieces, compression) => {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      let at = 0;
      for (const { text, blocks, seed } of pieces) {
        const bytes = (text ? prose : noise)(blocks * BLOCK_BYTES, seed);
        at += bytes.copy(chunk, at);
      }
      if (isZeros(chunk)) return;
      const bytes = await stored(chunk, compression);
      assert(bytes.length <= CHUNK_BYTES);
      assert(chunk.equals(await restored(bytes)));
    }),
    { numRuns: 100 },
  );
});

test('blocks of zeros at the end take no room even without compression', async () => {
  const chunk = Buffer.concat([noise(BLOCK_BYTES), Buffer.alloc(CHUNK_BYTES - BLOCK_BYTES)]);
  assert.equal((await stored(chunk, false)).length, 2 * BLOCK_BYTES);
});

test('a part of a chunk beyond its last byte reads as zeros', () => {
  const into = Buffer.alloc(8, 0xff);
  copyPart(Buffer.from([1, 2, 3]), 1, into);
  assert.deepEqual([...into], [2, 3, 0, 0, 0, 0, 0, 0]);
  copyPart(Buffer.from([1, 2, 3]), 4096, into.fill(0xff));
  assert.deepEqual([...into], [0, 0, 0, 0, 0, 0, 0, 0]);
});

test('damage to a stored chunk is reported as such', async () => {
  const good = await stored(prose(CHUNK_BYTES), true);
  for (const [at, value] of [
    [0, 0],
    [2, 9],
    [4, 0xff],
    [6, 1],
    [12, 0x55],
  ] as const) {
    const bad = Buffer.from(good);
    bad[at] = value;
    if (at === 4) bad[5] = 0xff;
    await assert.rejects(unpack(bad), { code: 'unreadable' }, `byte ${at}`);
  }
});

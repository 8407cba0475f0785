import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { allocate, checksumBlocks, release } from '../kernels/index.ts';
import { BLOCK_BYTES } from '../units.ts';
import { writeCopies } from './copies.ts';
import type { Drive } from './drive.ts';
import { FileDrive } from './file-drive.ts';
import { readSummed } from './then-sum.ts';

const BYTES = 1024 * 1024;

/** The same drive, which offers nothing for large requests. */
function plain(drive: Drive): Drive {
  return {
    id: drive.id,
    sizeBytes: drive.sizeBytes,
    read: (offset, into) => drive.read(offset, into),
    write: (offset, from) => drive.write(offset, from),
    flush: () => drive.flush(),
    writeDurably: (offset, from) => drive.writeDurably(offset, from),
    discard: (offset, length) => drive.discard(offset, length),
    statistics: () => drive.statistics(),
    close: () => drive.close(),
  };
}

test('a large request gives the same bytes and checksums, whether the drive offers more for it or not', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'granary-large-'));
  const file = await FileDrive.open({ id: 'drive', path: join(folder, 'drive'), sizeBytes: 4 * BYTES });
  const [from, into] = [allocate(BYTES), allocate(BYTES)];
  t.after(async () => {
    release(from);
    release(into);
    await file.close();
    rmSync(folder, { recursive: true });
  });
  const expected = new Uint32Array(BYTES / BLOCK_BYTES);
  const [written, read] = [new Uint32Array(expected.length), new Uint32Array(expected.length)];
  for (const writer of [file, plain(file)]) {
    for (const reader of [file, plain(file)]) {
      randomBytes(BYTES).copy(from);
      checksumBlocks(from, expected, 0);
      into.fill(0);
      await Promise.all(writeCopies([{ drive: writer }], BYTES, from, written, (_, done) => done) ?? []);
      await readSummed(reader, BYTES, into, read);
      assert.deepEqual([written, read], [expected, expected]);
      assert.ok(into.equals(from));
    }
  }
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../../testing/folders.ts';
import { OverlayDrive } from './overlay-drive.ts';

test('a file that lost its end in the middle of a discard reads as zeros there, and ends where the drive does', (t) => {
  const file = join(temporaryFolder(t), 'drive');
  writeFileSync(file, Buffer.alloc(4096, 7));
  const drive = new OverlayDrive({ id: 'one', file, sizeBytes: 4 * 4096 });
  t.after(() => drive.shut());
  const into = Buffer.alloc(2 * 4096, 1);
  drive.read(0, into);
  assert.deepEqual(into, Buffer.concat([Buffer.alloc(4096, 7), Buffer.alloc(4096)]));
  assert.throws(() => drive.read(3 * 4096, into), { code: 'drive-failed' });
});

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../testing/folders.ts';
import { refuseLostIndex } from './lost-index.ts';

test('an index that is missing or empty beside drives in use is refused, a new array is not', (t) => {
  const folder = temporaryFolder(t);
  const [file, drive] = [join(folder, 'index.db'), join(folder, 'drive')];
  mkdirSync(drive);
  refuseLostIndex(file, [{ file: drive }]);
  writeFileSync(join(drive, 'drive.json'), '{}');
  assert.throws(() => refuseLostIndex(file, [{ file: drive }]), /index\.db is damaged: the file is missing/);
  writeFileSync(file, '');
  assert.throws(() => refuseLostIndex(file, [{ file: drive }]), /index\.db is damaged: it has 0 bytes/);
  writeFileSync(file, 'something');
  refuseLostIndex(file, [{ file: drive }]);
});

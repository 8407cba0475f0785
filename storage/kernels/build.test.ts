import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { buildKernels } from './build.ts';

const SIZE_MAX = 16 * 1024;

test('the kernels in the tree are what their sources compile to', async () => {
  const kept = readFileSync(new URL('kernels.wasm', import.meta.url));
  assert.ok(kept.equals(await buildKernels()), 'run `npm run build:kernels` and keep what it writes');
  assert.ok(kept.length < SIZE_MAX);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalPaths, pathFilter } from './paths.ts';

test('white and black lists go by whole names of directories', () => {
  const isInPlace = pathFilter({ whitelist: ['/a', '/b/c'], blacklist: ['/a/keep'] });
  const wanted = ['/a/x', '/a/b/x', '/b/c/x', '/a/keeper/x', '/a'];
  const others = ['/ab/x', '/b/x', '/b/cd', '/a/keep/x', '/a/keep', '/x'];
  for (const path of wanted) assert.ok(isInPlace(path), path);
  for (const path of others) assert.ok(!isInPlace(path), path);
  assert.ok(pathFilter({ whitelist: null, blacklist: null })('/any'));
  assert.ok(pathFilter({ whitelist: ['/'], blacklist: null })('/any'));
  assert.ok(!pathFilter({ whitelist: null, blacklist: ['/'] })('/any'));
});

test('paths are kept in their plain form, and none leads out', () => {
  assert.deepEqual(normalPaths('f', ['a/b/', '/a//b', '/', '/c']), ['/a/b', '/', '/c']);
  assert.throws(() => normalPaths('whitelist_paths', ['/a/../b']), /whitelist_paths must hold paths from the root/);
});

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

/** The runner stops waiting for a file when all tests that it knows have ended: one that is declared later is cancelled. */
function awaitsAfterTests(source: string): boolean {
  const lines = source.split('\n');
  const first = lines.findIndex((line) => /^(test|describe)\(/.test(line));
  return first !== -1 && lines.slice(first).some((line) => /^(await |(const|let) .*= await )/.test(line));
}

test('a test file waits for nothing at its top level after its first test', () => {
  assert.ok(awaitsAfterTests("test('one', () => {});\nconst found = await find();"));
  assert.ok(!awaitsAfterTests("const found = await find();\ntest('one', () => {});"));
  const files = globSync('**/*.test.ts', { exclude: ['node_modules/**'] });
  assert.deepEqual(
    files.filter((file) => awaitsAfterTests(readFileSync(file, 'utf8'))),
    [],
  );
});

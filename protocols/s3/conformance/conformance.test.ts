import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { operations } from '../operations/index.ts';
import { CONFORMANCE } from './table.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Never reached by a query of their own: these rows have no route, or one that only refuses. */
const WITHOUT_ROUTE = new Set(['PostObject', 'RestoreObject']);

test('every operation that is routed has its row, and what is served is routed', () => {
  const routed = new Set(operations.map(({ operation }) => operation.name));
  const rows = CONFORMANCE.map(({ operation }) => operation);
  assert.deepEqual(rows, [...new Set(rows)].sort());
  assert.deepEqual(
    [...routed].filter((name) => !rows.includes(name)),
    [],
  );
  for (const { operation, served } of CONFORMANCE) {
    if (!WITHOUT_ROUTE.has(operation)) assert.equal(routed.has(operation), served !== 'no', operation);
  }
});

test('every row names tests that there are', () => {
  const files = globSync(['protocols/s3/**/*.test.ts', 'objects/**/*.test.ts'], { cwd: ROOT });
  const texts = files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
  for (const { operation, tests } of CONFORMANCE) {
    assert.ok(tests.length > 0, operation);
    for (const name of tests) {
      assert.ok(texts.includes(`test('${name}'`) || texts.includes(`test("${name}"`), `${operation}: ${name}`);
    }
  }
});

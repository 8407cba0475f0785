import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Statement } from './statement.ts';

function of(sql: string) {
  return new Statement(new DatabaseSync(':memory:'), sql);
}

test('parameters are found by their names, as often as they are named', () => {
  const row = of('SELECT :b AS b, :a AS a, :b AS again').get([{ a: 1, b: 'two' }]);
  assert.deepEqual({ ...(row as object) }, { b: 'two', a: 1, again: 'two' });
});

test('what is quoted or commented out is no parameter', () => {
  const sql = `SELECT ':a' AS "x:b", 'it''s :c' AS y, :d AS z -- :e
    /* :f */`;
  assert.deepEqual({ ...(of(sql).get([{ d: 4 }]) as object) }, { 'x:b': ':a', y: "it's :c", z: 4 });
});

test('a parameter that is not given is null; one the statement does not have is an error', () => {
  assert.deepEqual({ ...(of('SELECT :a AS a').get([{}]) as object) }, { a: null });
  assert.throws(() => of('SELECT :a AS a').get([{ a: 1, b: 2 }]), /no parameter b/);
});

test('positional parameters are given in their order, blobs among them', () => {
  const row = of('SELECT ? AS a, ? AS b, ?2 AS again').get([new Uint8Array([7]), 'two']);
  assert.deepEqual({ ...(row as object) }, { a: new Uint8Array([7]), b: 'two', again: 'two' });
});

test('rows can be arrays of values', () => {
  const statement = new Statement(new DatabaseSync(':memory:'), 'SELECT :a, 2', true);
  assert.deepEqual(statement.all([{ a: 1 }]), [[1, 2]]);
});

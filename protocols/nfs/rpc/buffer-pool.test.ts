import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BufferPool } from './buffer-pool.ts';

const KIB = 1024;

test('a large buffer is used again once it is given back, by any view of it', () => {
  const pool = new BufferPool(1024 * KIB);
  const first = pool.acquire(100 * KIB);
  assert.notEqual(pool.acquire(100 * KIB).buffer, first.buffer);
  pool.release(first.subarray(10, 20));
  pool.release(first);
  assert.equal(pool.acquire(1000 * KIB).buffer, first.buffer);
  assert.notEqual(pool.acquire(1000 * KIB).buffer, first.buffer, 'given back twice, it is lent once');
});

test('a buffer that was detached, or that is not ours, is never lent again', () => {
  const pool = new BufferPool(1024 * KIB);
  const kept = pool.acquire(100 * KIB);
  pool.detach(kept);
  pool.release(kept);
  const foreign = Buffer.alloc(100 * KIB);
  pool.release(foreign);
  const next = pool.acquire(100 * KIB);
  assert.ok(next.buffer !== kept.buffer && next.buffer !== foreign.buffer);
});

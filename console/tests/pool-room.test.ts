import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overcommittedWords, roomWords } from '../src/array/pools/room.ts';

/** Goal: a pool that promises more than it has says so, in figures and before more is promised. */

const pool = { display_name: 'pool-1', available_capacity: 9 };

test('a size that the pool has free needs no word', () => {
  for (const size of ['9G', '9', ' 500M ', '', '0', 'much', undefined, 12])
    assert.equal(roomWords(size, pool), undefined, String(size));
  assert.equal(roomWords('12G', undefined), undefined);
});

test('a size of more than the pool has free is said to be, and to be allowed', () => {
  assert.match(roomWords('12G', pool) ?? '', /pool pool-1 has 9 GiB free\. It is allowed/);
  assert.match(roomWords('1T', { ...pool, available_capacity: 0.5 }) ?? '', /has 512 MiB free/);
});

test('what a volume may write already counts when it is expanded', () => {
  assert.equal(roomWords('4G', pool, 5), undefined);
  assert.match(roomWords('4G', pool, 6) ?? '', /could then write 10 GiB more, but pool pool-1 has 9 GiB free/);
});

test('what is provisioned beyond the pools is said beside it', () => {
  assert.equal(overcommittedWords(9, 9), '');
  assert.equal(overcommittedWords(12, 9), ', 3 GiB more than the pools have');
});

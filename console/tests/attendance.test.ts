import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Attendance } from '../src/api/attendance.ts';

/** Goal: a screen that is left alone does not keep its session open by the figures that it reads. */

test('readings say when nobody has touched the page for a minute', () => {
  let now = 0;
  const page = new EventTarget();
  const attendance = new Attendance(() => now);
  attendance.follow(page);
  now += 59_000;
  assert.deepEqual(attendance.headers(), {});
  now += 1_000;
  assert.deepEqual(attendance.headers(), { 'x-unattended': '1' });
  for (const input of ['keydown', 'pointermove', 'wheel']) {
    page.dispatchEvent(new Event(input));
    assert.deepEqual(attendance.headers(), {}, input);
    now += 61_000;
    assert.deepEqual(attendance.headers(), { 'x-unattended': '1' });
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '@granary/kernel';
import { Quota } from './quota.ts';

const refusal = { entry: 'too_many_requests' };

test('all of an IPv6 /64 has one quota, for everything or for each thing it asks about', () => {
  const clock = new ManualClock('2026-11-16T12:00:00Z');
  const quota = new Quota({ clock, max: 2, windowMs: 1_000 });
  quota.consume('2001:db8::1');
  quota.consume('2001:db8:0:0:ffff::2');
  assert.throws(() => quota.consume('2001:db8::3'), refusal);
  quota.consume('2001:db8:0:1::1');
  quota.consume('2001:db8::3', 'ada');
  quota.consume('2001:db8::4', 'Ada');
  assert.throws(() => quota.consume('2001:db8::5', 'ada'), refusal);
  quota.consume('2001:db8::5', 'mia');
  quota.consume('::ffff:192.0.2.1');
  quota.consume('192.0.2.1');
  assert.throws(() => quota.consume('192.0.2.1'), refusal);
  clock.advance(1_000);
  quota.consume('2001:db8::3');
});

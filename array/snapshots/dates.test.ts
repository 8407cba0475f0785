import assert from 'node:assert/strict';
import { test } from 'node:test';
import { momentOf } from './dates.ts';

test('a moment is day, month, year, hour, minute and second in UTC', () => {
  assert.equal(momentOf('start_date', '31:01:26:23:59:58'), Date.UTC(2026, 0, 31, 23, 59, 58));
  assert.equal(momentOf('start_date', '29:02:28:00:00:00'), Date.UTC(2028, 1, 29));
  assert.equal(momentOf('start_date', undefined), undefined);
});

test('a moment that does not exist is a bad parameter that is named', () => {
  const impossible = ['31:02:26:00:00:00', '29:02:26:00:00:00', '00:01:26:00:00:00', '01:13:26:00:00:00'];
  for (const text of [...impossible, '01:01:26:24:00:00', '01:01:26:00:60:00', '01:01:26:00:00:60']) {
    assert.throws(() => momentOf('end_date', text), { entry: 'bad_parameter', message: /^end_date must be a moment/ });
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expiryOf } from './lifecycle-expiry.ts';

const version = {
  key: 'logs/a',
  size: 100,
  modifiedAt: Date.UTC(2026, 0, 1, 12),
  attributes: { tags: { keep: 'no' } },
};
const rule = { id: 'r', enabled: true, prefix: '' };

test('days count from the midnight after the object was written', () => {
  assert.deepEqual(expiryOf([{ ...rule, expireDays: 1 }], version), { at: Date.UTC(2026, 0, 3), rule: 'r' });
});

test('the earliest rule that means the object wins', () => {
  const rules = [
    { ...rule, id: 'later', expireDays: 9 },
    { ...rule, id: 'off', enabled: false, expireDays: 1 },
    { ...rule, id: 'elsewhere', prefix: 'data/', expireDays: 1 },
    { ...rule, id: 'other tag', tags: { keep: 'yes' }, expireDays: 1 },
    { ...rule, id: 'larger', sizeGreaterThan: 100, expireDays: 1 },
    { ...rule, id: 'smaller', sizeLessThan: 100, expireDays: 1 },
    { ...rule, id: 'this', prefix: 'logs/', tags: { keep: 'no' }, expireDays: 2 },
  ];
  assert.equal(expiryOf(rules, version)?.rule, 'this');
  assert.equal(expiryOf(rules.slice(1, 6), version), undefined);
});

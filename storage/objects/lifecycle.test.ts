import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expiryOf, markerExpiryOf, noncurrentExpiryOf, uploadExpiryOf } from './lifecycle.ts';

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

test('hidden versions go some days after what hides them came, but for the newest few', () => {
  const rules = [{ ...rule, noncurrentDays: 3, noncurrentKeep: 2 }];
  const hiddenAt = Date.UTC(2026, 1, 1, 1);
  assert.equal(noncurrentExpiryOf(rules, version, hiddenAt, 1), undefined);
  assert.equal(noncurrentExpiryOf(rules, version, hiddenAt, 2)?.at, Date.UTC(2026, 1, 5));
  assert.equal(noncurrentExpiryOf([{ ...rule, expireDays: 1 }], version, hiddenAt, 9), undefined);
});

test('a lone delete marker goes at once where that was asked for, else when objects of its age go', () => {
  const marker = { ...version, size: 0, attributes: {} };
  assert.equal(markerExpiryOf([{ ...rule, expireDeleteMarkers: true }], marker)?.at, marker.modifiedAt);
  assert.equal(markerExpiryOf([{ ...rule, expireDays: 2 }], marker)?.at, Date.UTC(2026, 0, 4));
  assert.equal(markerExpiryOf([{ ...rule, noncurrentDays: 2 }], marker), undefined);
});

test('unfinished uploads are given up some days after they began', () => {
  const upload = { key: 'logs/a', createdAt: Date.UTC(2026, 0, 1) };
  assert.equal(uploadExpiryOf([{ ...rule, abortUploadDays: 7 }], upload)?.at, Date.UTC(2026, 0, 8));
  assert.equal(uploadExpiryOf([{ ...rule, prefix: 'x', abortUploadDays: 7 }], upload), undefined);
});

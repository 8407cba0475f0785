import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bucket, ObjectStore } from '@granary/storage/object-store';
import type { Caller, DataContext } from '../../../objects/context.ts';
import { checkAccountQuota } from './account-quota.ts';

/** A request into a bucket of an account with a quota of 10 bytes, of which 4 are left. */
function asked(role: Caller['role'], adminAccess = false) {
  const account = {
    id: 'a'.repeat(32),
    name: 'library',
    enabled: true,
    createdAt: 0,
    metadata: { 'quota-bytes': '10' },
  };
  const store = { usage: () => ({ buckets: 1, objects: 1, bytes: 6, policies: [] }) } as Partial<ObjectStore>;
  const context = { store, directory: { account: () => account }, settings: () => ({ adminAccess }) };
  const caller = { account: account.id, accountName: 'library', user: '1'.repeat(32), username: 'ada', role };
  return { context: context as unknown as DataContext, bucket: { account: account.id } as Bucket, caller };
}

test('what an operator lets an account store holds for S3, too', async () => {
  await checkAccountQuota(asked('account_admin'), 4);
  await assert.rejects(checkAccountQuota(asked('account_admin'), 5), { code: 'EntityTooLarge' });
  await assert.rejects(checkAccountQuota(asked('objs_admin'), 5), { code: 'EntityTooLarge' });
  await checkAccountQuota(asked('objs_admin', true), 5);
});

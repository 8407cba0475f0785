import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bucket, ObjectStore } from '@granary/storage/object-store';
import type { Caller, DataContext } from '../../../objects/context.ts';
import { expect } from '../../testing/client.ts';
import { PEOPLE, serve } from '../../testing/serve.ts';
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

test('files of forms, parts of uploads and copies find no room in an account that is full', async (t) => {
  const served = await serve();
  t.after(() => served.close());
  const ada = served.as('ada');
  expect(await ada.call('PUT', '/full', { headers: { 'x-amz-acl': 'public-read-write' } }), 200);
  const uploadId = (await ada.call('POST', '/full/parts', { query: { uploads: '' } })).xml('UploadId')!;
  expect(await ada.call('PUT', '/elsewhere'), 200);
  expect(await ada.call('PUT', '/elsewhere/source', { body: 'x'.repeat(20) }), 200);
  const bytesBefore = served.context.store.usage(PEOPLE.ada.caller.account).bytes;
  const { account: id, accountName: name } = PEOPLE.ada.caller;
  const account = { id, name, enabled: true, createdAt: 0, metadata: { 'quota-bytes': String(bytesBefore + 10) } };
  t.mock.method(served.context.directory, 'account', () => account);

  const post = async (key: string, file: string) => {
    const form = new FormData();
    form.set('key', key);
    form.set('file', new Blob([file]), 'name');
    return (await fetch(`${served.origin}/full`, { method: 'POST', body: form })).status;
  };
  const copyPart = (range: string) =>
    ada.call('PUT', '/full/parts', {
      query: { uploadId, partNumber: '2' },
      headers: { 'x-amz-copy-source': '/elsewhere/source', 'x-amz-copy-source-range': range },
    });
  assert.equal(await post('large', 'x'.repeat(11)), 400);
  expect(await ada.call('GET', '/full/large'), 404, 'NoSuchKey');
  const part = (body: string) => ada.call('PUT', '/full/parts', { query: { uploadId, partNumber: '1' }, body });
  expect(await part('x'.repeat(11)), 400, 'EntityTooLarge');
  expect(await part('x'.repeat(4)), 200);
  expect(await copyPart('bytes=0-10'), 400, 'EntityTooLarge');
  expect(await copyPart('bytes=0-3'), 200);
  const copied = { headers: { 'x-amz-copy-source': '/elsewhere/source' } };
  expect(await ada.call('PUT', '/full/copy', copied), 400, 'EntityTooLarge');
  assert.equal(await post('small', 'x'.repeat(4)), 204);
});

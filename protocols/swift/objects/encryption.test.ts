import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ALPHA, serveSwift, type SwiftFixture } from '../testing/serve.ts';

let swift: SwiftFixture;
before(async () => (swift = await serveSwift()));
after(() => swift.close());

async function newContainer(name: string) {
  await swift.ask(`/${name}`, { method: 'PUT' });
  return swift.store.bucket(ALPHA, name)!;
}

test('what S3 clients set for a bucket encrypts what comes over Swift, copies too', async () => {
  const { id: bucket } = await newContainer('safe');
  await swift.put('/safe/before', 'in clear');
  const settings = { encryption: { algorithm: 'AES256' } } as const;
  await swift.store.commit('changeBucket', { bucket, settings, at: Date.now() });
  await swift.put('/safe/small', 'secret');
  await swift.put('/safe/large', 'secret'.repeat(300_000));
  await swift.ask('/safe/before', { method: 'COPY', headers: { destination: 'safe/copy' } });
  const encrypted = (key: string) => swift.store.isEncrypted(swift.store.version(bucket, key)!);
  assert.deepEqual(['before', 'small', 'large', 'copy'].map(encrypted), [false, true, true, true]);
  assert.equal((await swift.ask('/safe/copy')).text, 'in clear');
});

test('an old version of an encrypted object is encrypted, wherever it is kept and when it comes back', async () => {
  await swift.ask('/mixed-old', { method: 'PUT', headers: { 'x-storage-policy': 'three-copies' } });
  const headers = { 'x-versions-location': 'mixed-old', 'x-storage-policy': 'two-copies' };
  await swift.ask('/mixed', { method: 'PUT', headers });
  const [own, old] = ['mixed', 'mixed-old'].map((name) => swift.store.bucket(ALPHA, name)!);
  const content = await swift.store.stage(own!.policy, Buffer.from('secret'), 6, { encrypt: true });
  const written = { content, size: 6, etag: '0'.repeat(32), owner: 'x', attributes: { encryption: 'AES256' } } as const;
  await swift.store.commit('putObject', { bucket: own!.id, key: 'k', ...written, at: Date.now() });
  await swift.put('/mixed/k', 'new');
  const name = (await swift.ask('/mixed-old')).text.trim();
  assert.equal((await swift.ask(`/mixed-old/${name}`)).text, 'secret');
  assert.equal(swift.store.isEncrypted(swift.store.version(old!.id, name)!), true);
  await swift.ask('/mixed/k', { method: 'DELETE' });
  assert.equal((await swift.ask('/mixed/k')).text, 'secret');
  assert.equal(swift.store.isEncrypted(swift.store.version(own!.id, 'k')!), true);
});

test('an object under a key of its client is neither read nor copied without it', async () => {
  const { id: bucket, policy } = await newContainer('sealed');
  const content = await swift.store.stage(policy, Buffer.from('ciphertext'), 10);
  const customerKey = { salt: 'c2FsdA==', verifier: 'dg==', starts: ['cw=='] };
  const written = { content, size: 10, etag: '0'.repeat(32), owner: 'x', attributes: { customerKey }, at: Date.now() };
  await swift.store.commit('putObject', { bucket, key: 'k', ...written });
  const got = await swift.ask('/sealed/k');
  assert.equal(got.status, 409);
  assert.ok(!got.text.includes('ciphertext'));
  const copied = await swift.ask('/sealed/k', { method: 'COPY', headers: { destination: 'sealed/copy' } });
  assert.equal(copied.status, 409);
  assert.equal((await swift.ask('/sealed/copy')).status, 404);
  // Metadata may change, and what is needed to read it stays.
  const posted = { method: 'POST', headers: { 'x-object-meta-color': 'blue' } };
  assert.equal((await swift.ask('/sealed/k', posted)).status, 202);
  assert.deepEqual(swift.store.version(bucket, 'k')?.attributes.customerKey, customerKey);
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { connectProxy } from '../outgoing/testing/proxies.ts';
import { testArray } from '../testing/test-array.ts';
import { signedHeaders } from './signature.ts';

const { objectStorageDestinations } = arrayApi.groups;

/** One bucket, open to one key, in a region of its own. */
async function bucketServer(t: TestContext, region: string): Promise<string> {
  const server = createServer((request, reply) => {
    const { host = '', authorization } = request.headers;
    const at = String(request.headers['x-amz-date']).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/, '$1-$2-$3T$4:$5:');
    const asked = { method: request.method ?? '', host, path: request.url ?? '', query: '', atMs: Date.parse(at) };
    const expected = signedHeaders({ ...asked, region }, { keyId: 'AKTEST', secret: 'very secret' });
    const isElsewhere = !authorization?.includes(`/${region}/s3/`);
    const status = isElsewhere ? 400 : authorization !== expected['authorization'] ? 403 : 0;
    reply.statusCode = status || (request.url === '/archive' ? 200 : 404);
    reply.setHeader('x-amz-bucket-region', region).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a bucket is made known once it was seen, through a proxy where one is named, and its secret is sealed', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const endpoint = await bucketServer(t, 'eu-north-1');
  const proxy = await connectProxy(t, 'pat:secret word');
  const request = { name: 'archive', bucket: 'archive', endpoint, username: 'AKTEST', password: 'very secret' };
  const through = { proxyhost: proxy.host, proxyport: proxy.port, proxyuser: 'pat', proxypassword: 'secret word' };
  const { object_storage_destination } = await array.client.call(objectStorageDestinations.create, {
    ...request,
    ...through,
  });
  const { created_at, modified_at, ...shown } = object_storage_destination;
  assert.equal(created_at, modified_at);
  assert.deepEqual(shown, {
    name: 'obsdst-00000001',
    display_name: 'archive',
    type: 's3',
    bucket: 'archive',
    endpoint,
    username: 'AKTEST',
    connect_via: 'fe',
    allow_lifecycle_policies: 'NO',
    proxy_host: proxy.host,
    proxy_port: proxy.port,
  });
  assert.ok(proxy.asked.every((asked) => asked.startsWith(`${endpoint} `)));
  const list = await array.client.call(objectStorageDestinations.list, {});
  assert.deepEqual([list.count, list.object_storage_destinations], [1, [object_storage_destination]]);
  const refusal = async (changes: object) => {
    const { code, message } = await array.client.refused(objectStorageDestinations.create, {
      ...request,
      name: 'another',
      ...changes,
    });
    return `${code} ${message}`;
  };
  assert.match(await refusal({ name: 'archive' }), /^10096 /);
  assert.match(await refusal({ password: 'wrong' }), /^10107 .*refused the access key/);
  assert.match(await refusal({ bucket: 'nowhere' }), /^10107 .*there is no bucket nowhere/);
  assert.match(await refusal({ bucket: 'No Bucket' }), /^7 bucket/);
  assert.match(await refusal({ endpoint: '127.0.0.1:1' }), /^10107 .*nothing listens there/);
  assert.match(await refusal({ endpoint: '169.254.169.254' }), /^13 /);
  assert.match(await refusal({ proxyport: 8080 }), /^7 proxyhost/);
  assert.equal((await array.client.call(objectStorageDestinations.list, {})).count, 1);
  const files = ['array.db', 'array.db-wal'].map((file) =>
    readFileSync(join(array.configuration.folder, file), 'latin1'),
  );
  for (const secret of ['very secret', 'secret word']) assert.ok(!files.join().includes(secret));
});

test('requests are signed as the published example of the scheme is', () => {
  const headers = signedHeaders(
    {
      method: 'GET',
      host: 'examplebucket.s3.amazonaws.com',
      path: '/',
      query: 'lifecycle=',
      region: 'us-east-1',
      atMs: Date.UTC(2013, 4, 24),
    },
    { keyId: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  );
  assert.match(
    headers['authorization'] ?? '',
    /Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543$/,
  );
});

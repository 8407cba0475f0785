import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { createHttpServer } from '../../kernel/http/http-server.ts';
import {
  certificateFingerprint,
  CloudIssuerFiles,
  Issuer,
  parseJoinCode,
  TlsSource,
  writeJoinCode,
  type KeyAndCertificate,
} from '../../kernel/tls/index.ts';
import { findPortal, readJoinCode } from './join.ts';

const now = Date.now();
const authority = Issuer.createAuthority('Authority of the portal', now).issuer;
const SECRET = 'AAAAAAAAAAAAAAAAAAAAAA';
const leaf = { role: 'portal', id: 'p', hosts: ['127.0.0.1'], use: 'server', now } as const;

/** A portal that shows a certificate, and a code that pins one. */
async function portal(t: TestContext, shown: KeyAndCertificate | undefined, pinned = authority.certificate) {
  const asked: string[] = [];
  const server = createHttpServer(shown && new TlsSource(shown), {}, (request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ status: 'success', data: { certificate: authority.certificate, fingerprint: '' } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const code = writeJoinCode({ portal: place, fingerprint: certificateFingerprint(pinned), secret: SECRET });
  return { asked, code: readJoinCode(code) };
}

test('the portal of a code is known by the certificate that the code pins', async (t) => {
  const { code, asked } = await portal(t, authority.issue(leaf));
  assert.equal((await findPortal(code)).authority, authority.certificate);
  assert.deepEqual(asked, ['/api/clouds/authority']);
  const own = Issuer.createAuthority('Authority of the operator', now).issuer.issue(leaf);
  const brought = await portal(t, own, own.cert);
  assert.equal((await findPortal(brought.code)).authority, authority.certificate);
});

test('nothing is sent to a server that shows another certificate, or none', async (t) => {
  const other = Issuer.createAuthority('Another authority', now).issuer;
  const outsider = await portal(t, other.issue(leaf));
  await assert.rejects(findPortal(outsider.code), {
    exitCode: 5,
    message: /is not the portal of this join code.*Nothing was sent/,
  });
  const clear = await portal(t, undefined);
  await assert.rejects(findPortal(clear.code), { exitCode: 5, message: /does not speak TLS; nothing was sent/ });
  assert.deepEqual([...outsider.asked, ...clear.asked], []);
});

test('a cloud of the same authority does not pass for the portal', async (t) => {
  const cloud = new CloudIssuerFiles(temporaryFolder(t)).ensure(authority, now);
  const { code, asked } = await portal(t, cloud.issue(leaf));
  await assert.rejects(findPortal(code), { exitCode: 5, message: /its certificate is not the portal's/ });
  assert.deepEqual(asked, []);
});

test('half a code is refused before anything starts', () => {
  assert.throws(() => readJoinCode('192.0.2.1:7400/AAAA'), { exitCode: 2, message: /not a whole join code/ });
  assert.equal(parseJoinCode('192.0.2.1:7400/AAAA'), undefined);
});

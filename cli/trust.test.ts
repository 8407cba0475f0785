import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../testing/folders.ts';
import { createHttpServer } from '../kernel/http/http-server.ts';
import { certificateFingerprint, Issuer, TlsSource, type KeyAndCertificate } from '../kernel/tls/index.ts';
import { main } from './main.ts';
import { FakeTerminal } from './testing/terminal.ts';

const DAY_MS = 24 * 3600_000;
const { issuer: authority } = Issuer.createAuthority('Granary authority test', Date.now());
const fingerprint = certificateFingerprint(authority.certificate);
const token = JSON.stringify({ status: 'success', data: { token: 'tok' } });

function leaf(hosts = ['127.0.0.1'], now = Date.now()): KeyAndCertificate {
  return authority.issue({ role: 'portal', id: 'p', hosts, use: 'server', now });
}

/** A portal that accepts every token. */
async function portal(t: TestContext, tls: KeyAndCertificate | undefined): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createHttpServer(tls && new TlsSource(tls), {}, (request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('content-type', 'application/json');
    response.end(token);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, asked };
}

function person(t: TestContext) {
  const folder = temporaryFolder(t);
  const env = { XDG_CONFIG_HOME: folder, GRANARY_PASSWORD: 'secret password' };
  const run = async (...args: string[]) => {
    const terminal = new FakeTerminal({ env });
    const code = await main(args, terminal);
    return { code, out: terminal.out, err: terminal.err };
  };
  const login = (url: string, ...args: string[]) => run('login', '--url', url, '--user', 'ann', ...args);
  return { folder, run, login };
}

test('an unknown authority gets no password; its fingerprint is shown, and trusted when it is said', async (t) => {
  const { url, asked } = await portal(t, leaf());
  const { login, run, folder } = person(t);
  const refused = await login(url);
  assert.equal(refused.code, 5);
  assert.match(refused.err, new RegExp(`authority you do not know: SHA-256 ${fingerprint}.*--trust`, 's'));
  const other = await login(url, '--trust', 'AA:'.repeat(31) + 'AA');
  assert.match(other.err, /shows the authority .* not AA:AA/);
  assert.deepEqual(asked, [], 'nothing was sent');
  const taken = await login(url, '--trust', fingerprint.replaceAll(':', '').toLowerCase());
  assert.equal(taken.code, 0, taken.err);
  const file = join(folder, 'granary', 'authorities.json');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object), [url]);
  // From now on without a word.
  assert.equal((await login(url)).code, 0);
  assert.doesNotMatch((await run('clouds', 'list')).err, /authority/);
});

test('an authority that changed is refused, and named', async (t) => {
  const { url } = await portal(t, leaf());
  const { login, folder } = person(t);
  await login(url, '--trust', fingerprint);
  const { issuer: other } = Issuer.createAuthority('another', Date.now());
  const file = join(folder, 'granary', 'authorities.json');
  writeFileSync(file, JSON.stringify({ [url]: other.certificate }));
  const { code, err } = await login(url);
  assert.equal(code, 5);
  assert.match(err, /The authority of .* changed from .* to .*may be intercepted/s);
});

test('--ca trusts the authorities in a file, and no other', async (t) => {
  const { url } = await portal(t, leaf());
  const { login, folder } = person(t);
  const file = join(folder, 'ca.pem');
  writeFileSync(file, authority.certificate);
  assert.equal((await login(url, '--ca', file)).code, 0);
  assert.equal((await login(url, `--ca=${file}`)).code, 0);
  writeFileSync(file, Issuer.createAuthority('another', Date.now()).issuer.certificate);
  const { code, err } = await login(url, '--ca', file);
  assert.equal(code, 5);
  assert.match(err, /is not of an authority in .*ca\.pem/);
  writeFileSync(file, 'no certificate');
  assert.match((await login(url, '--ca', file)).err, /holds no certificate/);
  assert.match((await login(url, '--ca', `${file}.no`)).err, /cannot be read \(ENOENT\)/);
});

test('messages name the cause: another name, an end that has passed, HTTP for HTTPS and the reverse', async (t) => {
  const { login, folder } = person(t);
  const file = join(folder, 'ca.pem');
  writeFileSync(file, authority.certificate);
  const said = async (url: string) => {
    const { code, err } = await login(url, '--ca', file);
    assert.equal(code, 5, err);
    return err;
  };
  assert.match(
    await said((await portal(t, leaf(['portal.example.org']))).url),
    /other names: .*portal\.example\.org.*--tls-name/,
  );
  assert.match(await said((await portal(t, leaf(['127.0.0.1'], Date.now() - 100 * DAY_MS))).url), /has expired/);
  const { url: plain } = await portal(t, undefined);
  assert.match(await said(plain.replace('http:', 'https:')), /speaks plain HTTP, not TLS.*http:\/\/127/);
  const { url: secure } = await portal(t, leaf());
  assert.match(await said(secure.replace('https:', 'http:')), /speaks TLS, not plain HTTP; write it as https:\/\/127/);
});

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect, type SecureVersion } from 'node:tls';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../testing/folders.ts';
import { ManualClock } from '../clock.ts';
import { createHttpServer } from '../http/http-server.ts';
import { createLog } from '../log.ts';
import { isPortalKey } from '../process/portal-key.ts';
import {
  CertificateFiles,
  certificateFingerprint,
  CloudIssuerFiles,
  isNotTls,
  isPortal,
  Issuer,
  openAuthority,
  probeChain,
  RenewedCertificate,
  secureFetch,
  selfSigned,
  TlsSource,
  type KeyAndCertificate,
  type ServerTls,
} from './index.ts';

const DAY_MS = 24 * 3600_000;
const run = promisify(execFile);

function installation(t: TestContext) {
  const folder = temporaryFolder(t);
  const now = Date.now();
  const authority = openAuthority(join(folder, 'authority'), now);
  const cloud = new CloudIssuerFiles(join(folder, 'cloud')).ensure(authority, now);
  const array = cloud.issue({ role: 'array', id: 'a-1', hosts: ['127.0.0.1', '::1', 'localhost'], use: 'server', now });
  const portal = authority.issue({ role: 'portal', id: 'p-1', hosts: [], use: 'client', now });
  return { folder, now, authority, cloud, array, portal };
}

/** A server that says whom it takes the caller for. */
async function serve(
  t: TestContext,
  tls: ServerTls | TlsSource,
): Promise<{ server: Server; port: number; url: string }> {
  const source = tls instanceof TlsSource ? tls : new TlsSource(tls);
  const server = createHttpServer(source, {}, ({ socket }, response) => {
    const { clientAuthority = '' } = source.current;
    response.end(clientAuthority !== '' && isPortal(socket, clientAuthority) ? 'portal' : 'other');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `https://127.0.0.1:${port}/` };
}

const ask = async (url: string, options: Parameters<typeof secureFetch>[0]) => (await secureFetch(options)(url)).text();

test('the first start makes an authority, its key for its owner alone; later starts find it', (t) => {
  const { folder, now, authority } = installation(t);
  const key = join(folder, 'authority', 'authority.key');
  assert.equal(statSync(key).mode & 0o777, 0o600);
  assert.equal(openAuthority(join(folder, 'authority'), now + DAY_MS).certificate, authority.certificate);
  rmSync(key);
  assert.throws(() => openAuthority(join(folder, 'authority'), now), /authority\.key is missing.*backup/);
  writeFileSync(key, 'no key');
  assert.throws(() => openAuthority(join(folder, 'authority'), now), /authority\.key cannot be read/);
  writeFileSync(key, selfSigned('other', [], now).key);
  assert.throws(() => openAuthority(join(folder, 'authority'), now), /do not belong together/);
});

test('a start that ended between key and certificate is made good by the next one', (t) => {
  const { folder, now } = installation(t);
  rmSync(join(folder, 'authority', 'authority.crt'));
  const again = openAuthority(join(folder, 'authority'), now);
  assert.ok(existsSync(join(folder, 'authority', 'authority.crt')));
  assert.equal(openAuthority(join(folder, 'authority'), now).certificate, again.certificate);
});

test('GRANARY_MASTER_KEY encrypts the keys of authorities', (t) => {
  const folder = temporaryFolder(t);
  t.after(() => delete process.env['GRANARY_MASTER_KEY']);
  process.env['GRANARY_MASTER_KEY'] = 'ab'.repeat(32);
  const made = openAuthority(folder, Date.now());
  assert.equal(openAuthority(folder, Date.now()).certificate, made.certificate);
  process.env['GRANARY_MASTER_KEY'] = 'cd'.repeat(32);
  assert.throws(() => openAuthority(folder, Date.now()), /another GRANARY_MASTER_KEY/);
});

test('OpenSSL takes our certificates for what they are', async (t) => {
  const { folder, now, authority, cloud, array, portal } = installation(t);
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const root = write('root.pem', authority.certificate);
  const between = write('between.pem', cloud.certificate);
  const verified = async (file: string, purpose: string, strict = true) => {
    const args = ['verify', ...(strict ? ['-x509_strict'] : []), '-purpose', purpose, '-CAfile', root];
    return (await run('openssl', [...args, '-untrusted', between, file]).catch(() => ({ stdout: 'refused' }))).stdout;
  };
  assert.match(await verified(write('array.pem', array.cert), 'sslserver'), /OK/);
  assert.match(await verified(write('portal.pem', portal.cert), 'sslclient'), /OK/);
  assert.match(await verified(write('array.pem', array.cert), 'sslclient'), /refused/);
  // What a cloud signs is no client, whatever it says.
  const forged = cloud.issue({ role: 'portal', id: 'p-1', hosts: [], use: 'client', now });
  assert.match(await verified(write('forged.pem', forged.cert), 'sslclient'), /refused/);
  // An issuer of a cloud signs no other issuer.
  const second = cloud.issueIssuer(createPublicKey(selfSigned('x', [], now).key), now);
  assert.match(await verified(write('second.pem', second), 'sslserver'), /refused/);
});

test('only a certificate that the authority itself signed for a portal is a portal', async (t) => {
  const { authority, cloud, array, portal, now } = installation(t);
  const other = Issuer.createAuthority('another', now).issuer;
  const { url } = await serve(t, { ...array, clientAuthority: authority.certificate });
  const by = (client?: KeyAndCertificate) =>
    ask(url, { trusted: [authority.certificate], client: client && (() => client) });
  assert.equal(await by(portal), 'portal');
  assert.equal(await by(), 'other');
  for (const issuer of [cloud, other])
    assert.equal(await by(issuer.issue({ role: 'portal', id: 'p-1', hosts: [], use: 'client', now })), 'other');
  for (const role of ['array', 'cloud'] as const)
    assert.equal(await by(authority.issue({ role, id: 'x', hosts: [], use: 'client', now })), 'other', role);
  assert.equal(await by(array), 'other');
});

test('requests one after the other share a connection, and a renewed client certificate begins another', async (t) => {
  const { authority, array, portal, now } = installation(t);
  const { server, url } = await serve(t, { ...array, clientAuthority: authority.certificate });
  let connections = 0;
  server.on('secureConnection', () => (connections += 1));
  let client = portal;
  const shared = secureFetch({ trusted: [authority.certificate], client: () => client, problemOf: () => undefined });
  for (let request = 0; request < 3; request += 1) assert.equal(await (await shared(url)).text(), 'portal');
  assert.equal(connections, 1);
  client = authority.issue({ role: 'portal', id: 'p-1', hosts: [], use: 'client', now });
  assert.equal(await (await shared(url)).text(), 'portal');
  assert.equal(connections, 2);
});

test("the portal's key opens an array only over the portal's connection", async (t) => {
  const { authority, array, portal } = installation(t);
  const tls = { ...array, clientAuthority: authority.certificate };
  const seen: boolean[] = [];
  const server = createHttpServer(new TlsSource(tls), {}, ({ socket }, response) => {
    seen.push(isPortalKey('key', { socket }, { internalKey: 'key', tls }));
    seen.push(isPortalKey('wrong', { socket }, { internalKey: 'key', tls }));
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await ask(url, { trusted: [authority.certificate] });
  await ask(url, { trusted: [authority.certificate], client: () => portal });
  server.closeAllConnections();
  assert.deepEqual(seen, [false, false, true, false]);
});

test('a connection is refused for an unknown authority, another name, an end that has passed, a wrong role', async (t) => {
  const { authority, cloud, array, now } = installation(t);
  const trusted = [authority.certificate];
  const { url } = await serve(t, array);
  assert.equal(await ask(url, { trusted }), 'other');
  assert.equal(await ask(url, { trusted: [cloud.certificate] }), 'other');
  await assert.rejects(ask(url, {}), { code: 'SELF_SIGNED_CERT_IN_CHAIN' });
  await assert.rejects(ask(url, { trusted, problemOf: () => new Error('not that role') }), /not that role/);
  const elsewhere = cloud.issue({ role: 'array', id: 'a', hosts: ['192.0.2.1'], use: 'server', now });
  await assert.rejects(ask((await serve(t, elsewhere)).url, { trusted }), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  const past = authority.issue({ role: 'array', id: 'a', hosts: ['127.0.0.1'], use: 'server', now: now - 91 * DAY_MS });
  await assert.rejects(ask((await serve(t, past)).url, { trusted }), { code: 'CERT_HAS_EXPIRED' });
});

async function handshake(
  port: number,
  versions: { minVersion: SecureVersion; maxVersion: SecureVersion },
  ciphers?: string,
) {
  const socket = connect({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...versions,
    ciphers: ciphers ?? 'ALL:@SECLEVEL=0',
  });
  try {
    await once(socket, 'secureConnect');
    return { protocol: socket.getProtocol(), cipher: socket.getCipher().name };
  } finally {
    socket.destroy();
  }
}

test('TLS 1.3 is spoken, and TLS 1.2 with forward secrecy only', async (t) => {
  const { array } = installation(t);
  const { port } = await serve(t, array);
  const only = (version: SecureVersion) => ({ minVersion: version, maxVersion: version });
  assert.equal((await handshake(port, only('TLSv1.3'), 'TLS_AES_256_GCM_SHA384')).protocol, 'TLSv1.3');
  const older = await handshake(port, only('TLSv1.2'));
  assert.match(older.cipher, /^ECDHE-.*(GCM|POLY1305)/);
  for (const cipher of ['ECDHE-ECDSA-AES256-SHA384', 'ECDHE-ECDSA-AES128-SHA', 'AES256-GCM-SHA384'])
    await assert.rejects(handshake(port, only('TLSv1.2'), `${cipher}:@SECLEVEL=0`), cipher);
  for (const version of ['TLSv1.1', 'TLSv1'] as const) await assert.rejects(handshake(port, only(version)), version);
});

test('openssl s_client sees the same: no TLS 1.1, no cipher without forward secrecy', async (t) => {
  const { array, folder, authority } = installation(t);
  const { port } = await serve(t, array);
  const root = join(folder, 'root.pem');
  writeFileSync(root, authority.certificate);
  assert.match(
    (await ended(['s_client', '-connect', `127.0.0.1:${port}`, '-CAfile', root, '-tls1_3'])).out,
    /TLSv1\.3/,
  );
  const old = await ended(['s_client', '-connect', `127.0.0.1:${port}`, '-tls1_1', '-cipher', 'ALL:@SECLEVEL=0']);
  assert.doesNotMatch(old.out, /Cipher is (?!\(NONE\))/);
  const weak = ['-tls1_2', '-cipher', 'AES256-GCM-SHA384:AES128-SHA:@SECLEVEL=0'];
  const bare = await ended(['s_client', '-connect', `127.0.0.1:${port}`, ...weak]);
  assert.doesNotMatch(bare.out, /Cipher is (?!\(NONE\))/);
});

function ended(args: readonly string[]): Promise<{ readonly out: string }> {
  return new Promise((resolve) => {
    const child = execFile('openssl', args, { timeout: 20_000 }, (_, stdout, stderr) =>
      resolve({ out: stdout + stderr }),
    );
    child.stdin?.end();
  });
}

test('a certificate is renewed a month before it ends, while its server runs', async (t) => {
  const { authority, now } = installation(t);
  const clock = new ManualClock(new Date(now).toISOString());
  const renewed = new RenewedCertificate({
    issuer: authority,
    clock,
    role: 'portal',
    id: 'p',
    hosts: ['127.0.0.1'],
    use: 'server',
  });
  t.after(() => renewed.stop());
  const { port } = await serve(t, renewed.source);
  const shown = async () =>
    new X509Certificate((await probeChain({ host: '127.0.0.1', port, timeoutMs: 5_000 }))[0] as string);
  const first = await shown();
  clock.advance(59 * DAY_MS);
  renewed.renewIfDue();
  assert.equal((await shown()).serialNumber, first.serialNumber);
  clock.advance(2 * DAY_MS);
  renewed.renewIfDue();
  const second = await shown();
  assert.notEqual(second.serialNumber, first.serialNumber);
  assert.ok(Date.parse(second.validTo) > Date.parse(first.validTo));
});

test('files that change are served from the next connection on; bad ones are reported once and left', async (t) => {
  const folder = temporaryFolder(t);
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const write = ({ cert, key }: KeyAndCertificate) => {
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
  };
  const [one, two] = [selfSigned('one', ['127.0.0.1'], Date.now()), selfSigned('two', ['127.0.0.1'], Date.now())];
  const lines: string[] = [];
  const log = createLog('test', 'info', { write: (line) => lines.push(line) });
  write(one);
  const files = new CertificateFiles({ certFile, keyFile });
  const { port } = await serve(t, files.source);
  const shown = async () =>
    certificateFingerprint((await probeChain({ host: '127.0.0.1', port, timeoutMs: 5_000 }))[0] as string);
  const check = async (pair: KeyAndCertificate) => {
    write(pair);
    files.check(log);
    files.check(log);
    return shown();
  };
  const past = selfSigned('past', ['127.0.0.1'], Date.parse('2001-01-01T00:00:00Z'));
  for (const bad of [{ ...one, key: two.key }, { ...one, cert: 'none' }, past])
    assert.equal(await check(bad), certificateFingerprint(one.cert));
  rmSync(keyFile);
  files.check(log);
  assert.equal(lines.filter((line) => line.includes('the one before stays in use')).length, 4);
  assert.ok(!lines.some((line) => line.includes('PRIVATE')));
  assert.equal(await check(two), certificateFingerprint(two.cert));
  assert.equal(lines.filter((line) => line.includes('a new certificate is in use')).length, 1);
  assert.throws(() => new CertificateFiles({ certFile: keyFile, keyFile }), /cannot be read/);
});

test('a server without TLS is distinguished from one with TLS', async (t) => {
  const server = createHttpServer(undefined, {}, (_, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  await assert.rejects(probeChain({ host: '127.0.0.1', port, timeoutMs: 5_000 }), isNotTls);
});

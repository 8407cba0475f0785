import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { CloudIssuerFiles, Issuer, probeChain, secureFetch, type KeyAndCertificate } from '@granary/kernel';
import { temporaryFolder } from '../../testing/folders.ts';
import { testNetwork } from '../../kernel/process/testing/addresses.ts';
import { testObjects } from '../testing/test-objects.ts';

/**
 * Goal: an array whose cloud renews its certificate shows the new one at both ports without dropping a client, and takes
 * the portal's key over the portal's connection alone.
 * Method: a real array gets another configuration, as from its cloud.
 */
const DATA_PORT = 8080;
const MANAGEMENT_PORT = 7480;
const now = Date.now();
const authority = Issuer.createAuthority('Authority of the installation', now).issuer;
const trusted = [authority.certificate];

async function tlsArray(t: Parameters<typeof temporaryFolder>[0]) {
  const issuer = new CloudIssuerFiles(temporaryFolder(t)).ensure(authority, now);
  const host = `${testNetwork()}.1`;
  const next = () => ({
    ...issuer.issue({ role: 'array', id: 'a', hosts: [host], use: 'server', now }),
    clientAuthority: authority.certificate,
  });
  const tls = next();
  const managementUrl = `https://${host}:${MANAGEMENT_PORT}`;
  const management = { host, port: MANAGEMENT_PORT };
  const objects = await testObjects(t, { tls, management, managementUrl });
  const shown = async (port: number) => (await probeChain({ host, port, timeoutMs: 60_000 }))[0];
  return { objects, host, managementUrl, tls, next, shown };
}

const leafOf = ({ cert }: KeyAndCertificate) => cert.slice(0, cert.indexOf('-----END CERTIFICATE-----'));

async function askOver(socket: TLSSocket, host: string): Promise<string> {
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString('latin1').slice(0, 12);
}

test('S3 and management show a renewed certificate, and connections that are open go on', async (t) => {
  const { objects, host, tls, next, shown } = await tlsArray(t);
  const socket = connect({ host, port: DATA_PORT, ca: trusted, servername: '' });
  t.after(() => socket.destroy());
  await once(socket, 'secureConnect');
  assert.equal(await askOver(socket, host), 'HTTP/1.1 403');
  for (const port of [DATA_PORT, MANAGEMENT_PORT])
    assert.ok((await shown(port))?.startsWith(leafOf(tls)), String(port));
  const renewed = next();
  await objects.change({ tls: renewed });
  for (const port of [DATA_PORT, MANAGEMENT_PORT])
    assert.ok((await shown(port))?.startsWith(leafOf(renewed)), String(port));
  assert.equal(await askOver(socket, host), 'HTTP/1.1 403');
});

test("the portal's key opens an array over the portal's connection, and over no other", async (t) => {
  const { objects, managementUrl } = await tlsArray(t);
  const portal = authority.issue({ role: 'portal', id: 'p', hosts: [], use: 'client', now });
  const cloud = authority.issue({ role: 'cloud', id: 'c', hosts: [], use: 'client', now });
  const statusBy = async (client: KeyAndCertificate | undefined, key: string) => {
    const by = secureFetch({ trusted, client: client && (() => client) });
    const answer = await by(`${managementUrl}/api/objs/accounts.json`, { headers: { 'x-access-key': key } });
    return ((await answer.json()) as { response: { status: number } }).response.status;
  };
  const { internalKey } = objects.configuration;
  assert.equal(await statusBy(portal, internalKey), 0);
  for (const client of [undefined, cloud]) assert.notEqual(await statusBy(client, internalKey), 0);
  assert.notEqual(await statusBy(portal, 'another key'), 0);
});

import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  CloudIssuerFiles,
  Issuer,
  ManualClock,
  probeChain,
  secureFetch,
  splitChain,
  type KeyAndCertificate,
} from '@granary/kernel';
import { until } from '../../testing/waiting.ts';
import { newUuid, testSpec } from '../testing/specs.ts';
import { startTestCloud, testData } from '../testing/test-cloud.ts';

const DAY_MS = 24 * 3600_000;

/** A cloud that joined, with an array; TLS goes by the time of the machine, so its clock begins behind that. */
async function joinedCloud(t: TestContext, daysBehind: number) {
  const clock = new ManualClock(new Date(Date.now() - daysBehind * DAY_MS).toISOString());
  const authority = Issuer.createAuthority('Authority of the portal', clock.now()).issuer;
  const dataDir = testData(t);
  const files = new CloudIssuerFiles(join(dataDir, 'cloud', 'tls'));
  const accept = (chain: string) => files.accept(chain, authority.certificate);
  const publicKey = new X509Certificate(files.unsigned(clock.now()).certificate).publicKey;
  const issuer = accept(authority.issueIssuer(publicKey, clock.now(), 365));
  const tls = { issuer, portalAuthority: authority.certificate, accept };
  const cloud = await startTestCloud(t, dataDir, { clock, tls });
  const portal = authority.issue({ role: 'portal', id: 'p', hosts: [], use: 'client', now: Date.now() });
  const fetchAs = (client?: KeyAndCertificate) =>
    secureFetch({ trusted: [issuer.certificate], client: client && (() => client) });
  const ask = callerOf(cloud, fetchAs(portal));
  const uuid = newUuid();
  await ask('PUT', `/hosted_arrays/${uuid}`, { spec: testSpec() });
  const array = await until(async () => {
    const { data } = await ask('GET', `/hosted_arrays/${uuid}`);
    return data?.['state'] === 'running' ? data : undefined;
  }, 'the array runs');
  const plainUrl = String(array['management_url']).replace('https:', 'http:');
  return {
    clock,
    cloud,
    files,
    authority,
    publicKey,
    ask,
    asOutsider: callerOf(cloud, fetchAs()),
    /** What the process of the array was given, and whether it is still the same process. */
    ofArray: async () => ({
      chain: splitChain(await (await fetch(`${plainUrl}/certificate`)).text()),
      pid: array['pid'],
    }),
    ofCloud: () => probeChain({ ...cloud.address, timeoutMs: 30_000 }),
    pid: async () => (await ask('GET', `/hosted_arrays/${uuid}`)).data?.['pid'],
  };
}

function callerOf(
  { url, adminUser, adminKey }: { url: string; adminUser: string; adminKey: string },
  by: typeof fetch,
) {
  const authorization = `Basic ${Buffer.from(`${adminUser}:${adminKey}`).toString('base64')}`;
  return async (method: string, path: string, body?: object) => {
    const answer = await by(`${url}/api${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { data, message } = (await answer.json()) as { data?: Record<string, unknown>; message?: string };
    return { status: answer.status, data, message };
  };
}

const endOf = (certificate = '') => Date.parse(new X509Certificate(certificate).validTo);

test('a cloud and its running arrays get new certificates a month before the old ones end', async (t) => {
  const { clock, cloud, ofArray, ofCloud, pid } = await joinedCloud(t, 65);
  const [array, own] = [await ofArray(), await ofCloud()];
  clock.advance(59 * DAY_MS);
  await cloud.renewCertificates();
  assert.deepEqual([(await ofArray()).chain, await ofCloud()], [array.chain, own]);
  clock.advance(6 * DAY_MS);
  await cloud.renewCertificates();
  const renewed = await ofArray();
  assert.ok(endOf(renewed.chain[0]) > endOf(array.chain[0]) + 60 * DAY_MS);
  assert.ok(endOf((await ofCloud())[0]) > endOf(own[0]) + 60 * DAY_MS);
  assert.equal(await pid(), array.pid, 'the process went on');
});

test('the portal renews the issuer of a joined cloud, which then shows it, and its arrays do', async (t) => {
  const { ask, ofArray, ofCloud, authority, publicKey, files } = await joinedCloud(t, 80);
  const before = files.load();
  const chain = authority.issueIssuer(publicKey, Date.now(), 365);
  const answer = await ask('POST', '/portal/certificate', { certificate: chain });
  assert.equal(answer.status, 200, answer.message);
  const [issuer] = splitChain(chain);
  assert.equal(files.load()?.certificate, issuer);
  assert.notEqual(before?.certificate, issuer);
  assert.equal((await ofCloud())[1], issuer);
  await until(async () => ((await ofArray()).chain[1] === issuer ? true : undefined), 'the array has the new one');
  // Clients that trusted the old issuer certificate still connect: the key is the same.
  assert.equal((await ask('GET', '/inventory')).status, 200);
});

test('an issuer comes from the portal alone, and of its own authority, for the key of the cloud', async (t) => {
  const { ask, asOutsider, authority, publicKey, ofCloud } = await joinedCloud(t, 0);
  const before = await ofCloud();
  const other = Issuer.createAuthority('Another authority', Date.now()).issuer;
  const foreignKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  const good = authority.issueIssuer(publicKey, Date.now());
  const outsider = await asOutsider('POST', '/portal/certificate', { certificate: good });
  assert.deepEqual([outsider.status, /only the portal it belongs to/.test(outsider.message ?? '')], [403, true]);
  for (const [chain, message] of [
    [other.issueIssuer(publicKey, Date.now()), /not of the authority that this cloud trusts/],
    [authority.issueIssuer(foreignKey, Date.now()), /for another key/],
  ] as const) {
    const answer = await ask('POST', '/portal/certificate', { certificate: chain });
    assert.equal(answer.status, 409);
    assert.match(answer.message ?? '', message);
  }
  assert.deepEqual(await ofCloud(), before);
});

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, test, type TestContext } from 'node:test';
import {
  certificateFingerprint,
  isLoopback,
  Issuer,
  machineAddresses,
  outgoingAddress,
  TlsSource,
  type KeyAndCertificate,
} from '@granary/kernel';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { refused, startTestPortal } from '../testing/portal.ts';

/**
 * Goal: a portal sends a cloud's key only where an administrator said, or where its own authority vouches for the cloud.
 * Method: clouds with certificates of their own authority, of the portal's and of no authority are registered by address.
 */
const now = Date.now();
const authority = Issuer.createAuthority('Authority of the portal', now).issuer;
const foreign = Issuer.createAuthority('Authority of another machine', now).issuer;
const portal = await startTestPortal({ authority });
after(() => portal.stop());

const { admin, name, store } = portal;
let uuids = 0;

const certificateOf = (issuer: Issuer, role: 'cloud' | 'array' = 'cloud') =>
  issuer.issue({ role, id: issuer.id, hosts: ['127.0.0.1'], use: 'server', now });

async function cloudWith(t: TestContext, shown: KeyAndCertificate | undefined, host = '127.0.0.1') {
  const uuid = `00000000-0000-4000-b000-${String(++uuids).padStart(12, '0')}`;
  const cloud = await startFakeCloud({ uuid, host, ...(shown && { tls: new TlsSource(shown) }) });
  t.after(() => cloud.stop());
  return { name: name('cloud'), ip: cloud.address, admin_user: cloud.adminUser, admin_key: cloud.adminKey };
}

const trustedOf = (id: number) =>
  store.read((db) => db.get<{ trusted: string | null }>('SELECT trusted FROM clouds WHERE id = :id', { id }))?.trusted;

/** An address of this machine that others could reach, and that the portal connects to. */
async function outerAddress(): Promise<string | undefined> {
  for (const address of machineAddresses().filter((one) => !isLoopback(one)))
    if (await outgoingAddress(address).catch(() => undefined)) return address;
  return undefined;
}
const ownAddress = await outerAddress();

test('a cloud with an authority of its own is registered by its fingerprint, and not without', async (t) => {
  const registration = await cloudWith(t, certificateOf(foreign));
  const shown = certificateFingerprint(foreign.certificate);
  const before = portal.dump();
  const { message } = await refused(
    admin.client.clouds.create(registration),
    422,
    /authority this portal does not know/,
  );
  assert.ok(message.includes(shown), 'the refusal says what to compare');
  const wrong = certificateFingerprint(authority.certificate);
  await refused(admin.client.clouds.create({ ...registration, fingerprint: wrong }), 422, /does not know/);
  assert.deepEqual(portal.dump(), before);
  const plain = shown.replaceAll(':', '').toLowerCase();
  const { data } = await admin.client.clouds.create({ ...registration, fingerprint: plain });
  assert.equal(trustedOf(data.cloud_id), foreign.certificate);
  // A change needs no fingerprint: the cloud is known.
  await admin.client.clouds.update({ id: data.cloud_id, ...registration });
  assert.equal(trustedOf(data.cloud_id), foreign.certificate);
});

test('a change to the address of a cloud with an authority of its own needs its fingerprint', async (t) => {
  const { data } = await admin.client.clouds.create(await cloudWith(t, undefined));
  const id = data.cloud_id;
  const registration = await cloudWith(t, certificateOf(foreign));
  await portal.rest();
  const before = portal.dump();
  const wrong = { fingerprint: certificateFingerprint(authority.certificate) };
  for (const changes of [{}, wrong])
    await refused(admin.client.clouds.update({ id, ...registration, ...changes }), 422, /does not know/);
  assert.deepEqual(portal.dump(), before);
  const fingerprint = certificateFingerprint(foreign.certificate);
  await admin.client.clouds.update({ id, ...registration, fingerprint });
  assert.equal(trustedOf(id), foreign.certificate);
});

test("a certificate of an array of the same machine is not the cloud's", async (t) => {
  const registration = await cloudWith(t, certificateOf(foreign, 'array'));
  const fingerprint = certificateFingerprint(foreign.certificate);
  await refused(admin.client.clouds.create({ ...registration, fingerprint }), 422, /not that of the cloud/);
});

test("a cloud that the portal's authority signed is known by its own issuer, not by the authority", async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = new Issuer(authority.issueIssuer(publicKey, now), privateKey);
  const { data } = await admin.client.clouds.create(await cloudWith(t, certificateOf(issuer)));
  assert.equal(trustedOf(data.cloud_id), issuer.certificate);
});

test(
  'a cloud in the clear is registered on loopback alone',
  { skip: ownAddress === undefined && 'this machine has no address but loopback' },
  async (t) => {
    const registration = await cloudWith(t, undefined, ownAddress);
    const before = portal.dump();
    await refused(
      admin.client.clouds.create(registration),
      422,
      /does not answer over TLS, and its key must not cross a network in the clear/,
    );
    assert.deepEqual(portal.dump(), before);
    const { data } = await admin.client.clouds.create(await cloudWith(t, undefined));
    assert.equal(trustedOf(data.cloud_id), null);
  },
);

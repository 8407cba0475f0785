import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { after, test, type TestContext } from 'node:test';
import { certificateFingerprint, Issuer, ManualClock, parseJoinCode, splitChain, TlsSource } from '@granary/kernel';
import { selfSigned } from '../../kernel/tls/self-signed.ts';
import { startJoiningCloud } from '../testing/joining-cloud.ts';
import { refused, startTestPortal } from '../testing/portal.ts';

const MINUTE_MS = 60_000;
const clock = new ManualClock(new Date().toISOString());
const authority = Issuer.createAuthority('Authority of the tests', clock.now()).issuer;
const portal = await startTestPortal({ clock, authority });
after(() => portal.stop());

const { admin, name, store } = portal;
let uuids = 0;

async function joiningCloud(t: TestContext) {
  const joining = await startJoiningCloud({ uuid: `00000000-0000-4000-9000-${String(++uuids).padStart(12, '0')}` });
  t.after(() => joining.cloud.stop());
  return joining;
}

async function newCode(wish: { name: string; valid_minutes?: number; portal?: string; adopt?: boolean }) {
  const { data } = await admin.client.clouds.joinCode(wish);
  const parsed = parseJoinCode(data.code);
  assert.ok(parsed, data.code);
  return parsed;
}

/** As a cloud on another machine calls it: without a token. */
async function join(request: object, remoteAddress = '127.0.0.1') {
  const answer = await portal.inject({ method: 'POST', url: '/api/clouds/join', payload: request, remoteAddress });
  const { message, data } = answer.json<{ message?: string; data?: { certificate: string } }>();
  return { status: answer.statusCode, message, data };
}

const rowOf = (cloud: string) =>
  store.read((db) =>
    db.get<{ id: number; trusted: string; address: string }>('SELECT * FROM clouds WHERE name = :cloud', { cloud }),
  );

const titles = () => store.read((db) => db.all<{ title: string }>('SELECT title FROM events')).map((one) => one.title);

test('a cloud that joins is registered, and known by the issuer that was signed for its key', async (t) => {
  const { unsigned, request } = await joiningCloud(t);
  const cloud = name('joined');
  const code = await newCode({ name: cloud });
  assert.equal(code.portal, new URL(portal.url).host);
  assert.equal(code.fingerprint, certificateFingerprint(authority.certificate));
  assert.ok(!JSON.stringify(portal.dump()).includes(code.secret), 'a hash of it is kept');
  const { status, data, message } = await join(request(code.secret));
  assert.equal(status, 200, message);
  const [issuer = '', root] = splitChain(data?.certificate ?? '');
  assert.equal(root, authority.certificate);
  const certificate = new X509Certificate(issuer);
  assert.ok(certificate.ca && certificate.verify(new X509Certificate(authority.certificate).publicKey));
  assert.ok(certificate.publicKey.equals(new X509Certificate(unsigned.certificate).publicKey));
  assert.equal(certificate.keyUsage.join(), '1.3.6.1.5.5.7.3.1', 'it signs servers, never clients');
  assert.equal(rowOf(cloud)?.trusted, issuer);
  const shown = titles();
  assert.ok(shown.some((title) => new RegExp(`^Cloud ${cloud} joined from 127.* that admin made`).test(title)));
  assert.ok(shown.some((title) => title.startsWith(`A join code for cloud ${cloud} was made`)));
});

test('a code works once; what is said of a used, an expired, a replaced and a wrong one', async (t) => {
  const [one, other] = [await joiningCloud(t), await joiningCloud(t)];
  const cloud = name('once');
  const code = await newCode({ name: cloud });
  assert.equal((await join(one.request(code.secret))).status, 200);
  const before = portal.dump();
  const refusal = async (secret: string, message: RegExp) => {
    const answer = await join(other.request(secret));
    assert.equal(answer.status, 403);
    assert.match(answer.message ?? '', message);
  };
  await refusal(code.secret, /was used at .* UTC\. Make another one with `granary clouds join-code`/);
  await refusal('AAAAAAAAAAAAAAAAAAAAAA', /not a join code of this portal/);
  assert.deepEqual(portal.dump(), before);
  assert.ok(
    titles().includes(`A join code for cloud ${cloud} that was used before was given from 127.0.0.1 and refused.`),
  );
  const short = await newCode({ name: name('short'), valid_minutes: 5 });
  clock.advance(5 * MINUTE_MS);
  await refusal(short.secret, /expired at/);
  const replaced = await newCode({ name: cloud });
  await newCode({ name: cloud });
  await refusal(replaced.secret, /not a join code of this portal/);
});

test('of two clouds that use a code at the same time, one joins', async (t) => {
  const clouds = [await joiningCloud(t), await joiningCloud(t)];
  const code = await newCode({ name: name('race') });
  const answers = await Promise.all(clouds.map(({ request }) => join(request(code.secret))));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403]);
});

test('a cloud that cannot be reached, or does not have the key, uses no code up', async (t) => {
  const [one, other] = [await joiningCloud(t), await joiningCloud(t)];
  const code = await newCode({ name: name('late') });
  const before = portal.dump();
  const request = one.request(code.secret);
  const dead = await join({ ...request, port: 1 });
  assert.match(dead.message ?? '', /No cloud answered at 127\.0\.0\.1:1/);
  const foreign = await join({ ...request, certificate: other.unsigned.certificate });
  assert.match(foreign.message ?? '', /No cloud answered at/);
  assert.match((await join({ ...request, admin_key: 'wrong' })).message ?? '', /refused the credentials/);
  assert.match((await join({ ...request, host: '169.254.169.254' })).message ?? '', /link-local/);
  assert.deepEqual(portal.dump(), before);
  const { host: _, ...withoutHost } = request;
  assert.equal((await join(withoutHost)).status, 200, 'the address that it calls from is taken');
});

test('only one certificate that signed itself, by a key of our kind, is signed', async (t) => {
  const { request, unsigned } = await joiningCloud(t);
  const code = await newCode({ name: name('kind') });
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
  const leaf = unsigned.issue({ role: 'cloud', id: 'x', hosts: [], use: 'server', now: clock.now() });
  const bad = [
    'no PEM',
    unsigned.certificate.repeat(2),
    splitChain(leaf.cert)[0],
    splitChain(authority.issueIssuer(rsa, clock.now()))[0],
  ];
  for (const certificate of bad) {
    const answer = await join({ ...request(code.secret), certificate });
    assert.equal(answer.status, 400, certificate);
    assert.match(answer.message ?? '', /certificate must be one P-256 certificate that signed itself/);
  }
});

test('with the name of a registered cloud it joins again, and no other cloud takes its place', async (t) => {
  const one = await joiningCloud(t);
  const cloud = name('again');
  assert.equal((await join(one.request((await newCode({ name: cloud })).secret))).status, 200);
  const before = rowOf(cloud);
  assert.equal((await join(one.request((await newCode({ name: cloud })).secret))).status, 200);
  assert.equal(rowOf(cloud)?.id, before?.id);
  const elsewhere = await join(one.request((await newCode({ name: name('second') })).secret));
  assert.match(elsewhere.message ?? '', new RegExp(`it is registered as ${cloud}`));
  const key = name('seller');
  await admin.client.providers.create({ name: key, key, cloud_id: before?.id ?? 0 });
  await portal.array(admin, { provider: key });
  const other = await joiningCloud(t);
  const replaced = await join(other.request((await newCode({ name: cloud })).secret));
  assert.match(replaced.message ?? '', /hosts 1 arrays?; .*another cloud/);
});

test('a cloud of another portal joins by a code that says so', async (t) => {
  const { cloud, request } = await joiningCloud(t);
  cloud.owner = 'the other portal';
  const moved = name('moved');
  const refusal = await join(request((await newCode({ name: moved })).secret));
  assert.deepEqual([refusal.status, rowOf(moved)], [409, undefined]);
  assert.match(refusal.message ?? '', /belongs to another portal.* `join-code --adopt`/);
  const answer = await join(request((await newCode({ name: moved, adopt: true })).secret));
  assert.equal(answer.status, 200, answer.message);
});

test('an address that guesses codes is slowed down, then refused', async (t) => {
  const { request } = await joiningCloud(t);
  const guesses = Array.from({ length: 10 }, (_, n) => join(request(`guess-${n}`), '127.0.0.77'));
  assert.deepEqual([...new Set((await Promise.all(guesses)).map(({ status }) => status))], [403]);
  const code = await newCode({ name: name('guessed') });
  const kept = await join(request(code.secret), '127.0.0.77');
  assert.deepEqual(
    [kept.status, kept.message?.replace(/\d+/, 'N')],
    [429, 'Too many failed sign-ins; try again in N seconds.'],
  );
  assert.equal((await join(request(code.secret), '127.0.0.78')).status, 200);
});

test('a code pins the certificate that the operator brought, and is not made in the clear', async () => {
  const { place } = portal.tools;
  const port = Number(new URL(portal.url).port);
  const own = selfSigned('portal.example.org', ['portal.example.org'], clock.now());
  place.serve({ host: '127.0.0.1', port, tls: new TlsSource(own) });
  const code = await newCode({ name: name('pinned'), portal: 'portal.example.org:443' });
  assert.deepEqual([code.portal, code.fingerprint], ['portal.example.org:443', certificateFingerprint(own.cert)]);
  assert.equal((await newCode({ name: name('pinned'), portal: '2001:db8::1' })).portal, `[2001:db8::1]:${port}`);
  await refused(
    admin.client.clouds.joinCode({ name: name('pinned'), portal: 'a b' }),
    400,
    /portal must be an address/,
  );
  place.serve({ host: '127.0.0.1', port, tls: undefined });
  await refused(admin.client.clouds.joinCode({ name: name('clear') }), 409, /serves plain HTTP/);
});

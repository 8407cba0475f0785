import assert from 'node:assert/strict';
import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { after, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { until } from '../../testing/waiting.ts';
import { expect } from '../../protocols/s3/testing/client.ts';
import { signHeaders } from '../../protocols/s3/testing/signer.ts';
import { wireTo } from '../../kernel/process/testing/wire.ts';
import { selfSigned } from '../../kernel/tls/self-signed.ts';
import { PASSWORD, testObjects, type Person } from '../testing/test-objects.ts';

/**
 * Goal: every setting does what it says, from the next request on.
 * Method: one array; each setting is set over the management interface and looked for where clients meet it.
 */
const { settings, users, accounts, messages, policies } = objectsApi.groups;
const objects = await testObjects({ after });
const { client, owner } = objects;
const home = await objects.account('webhosting');
const ada = await objects.user(home, 'ada', 'account_admin');
const s3 = objects.s3(ada);
expect(await s3.call('PUT', '/photos'), 200);
expect(await s3.call('PUT', '/photos/beach.jpg', { body: 'waves' }), 200);
const wire = wireTo(objects.dataUrl, (close) => after(close));

const shown = () => client.call(settings.get, {});
const authenticate = (person: Person) =>
  objects.anonymous.call(users.authenticate, {
    account: person.accountName,
    user: person.username,
    password: person.password,
  });
const publicUrl = async () => (await authenticate(ada)).user.objs_data.objs_user.public_url;

/** A signed GET to a host of one's choice, at the address of the array. */
async function getAt(host: string, path: string) {
  const time = new Date().toISOString().replace(/[-:]|\.\d{3}/g, '');
  const signer = { accessKey: ada.s3.access, secret: ada.s3.secret, region: 'us-east-1', host, time };
  const { url, headers } = signHeaders(signer, { method: 'GET', path });
  return wire({ method: 'GET', path: url, headers });
}

test('S3 signatures name the region that is set, and no other', async () => {
  await client.call(settings.setRegion, { region: 'eu-west-3' });
  const old = await s3.call('GET', '/photos/beach.jpg');
  expect(old, 400, 'AuthorizationHeaderMalformed');
  assert.match(old.text, /eu-west-3/);
  expect(await objects.s3(ada, 'eu-west-3').call('GET', '/photos/beach.jpg'), 200);
  await client.call(settings.setRegion, { region: 'us-east-1' });
  expect(await s3.call('GET', '/photos/beach.jpg'), 200);
});

test('links and public addresses carry the name that is set', async () => {
  const { host } = new URL(objects.dataUrl);
  assert.equal(await publicUrl(), `http://${host}/v1/AUTH_${home}`);
  await client.call(settings.setApiIp, { api_ip: '192.0.2.10' });
  assert.equal(await publicUrl(), `http://192.0.2.10:8080/v1/AUTH_${home}`);
  await client.call(settings.setApiHostname, { api_hostname: 'Objects.Example.org' });
  await client.call(settings.setPublicApiHostname, { public_api_hostname: 'public.example.org' });
  assert.equal(await publicUrl(), `http://objects.example.org:8080/v1/AUTH_${home}`, 'a name goes before an address');
  const { count } = await client.call(accounts.get, { account_id: home });
  assert.deepEqual(
    count.public_url_list.map((url) => new URL(url).host),
    ['objects.example.org:8080', 'public.example.org:8080'],
  );
  const { api_ip, api_hostname } = await shown();
  assert.deepEqual([api_ip, api_hostname], ['192.0.2.10', 'objects.example.org']);
  const wrong = await client.refused(settings.setApiIp, { api_ip: '192.0.2.256' });
  assert.deepEqual([wrong.code, wrong.message], [7, 'api_ip must be an IPv4 or IPv6 address.']);
});

test('a bucket may stand before the host name once that is switched on, and not before', async () => {
  const host = 'photos.objects.example.org:8080';
  assert.notEqual((await getAt(host, '/beach.jpg')).text, 'waves');
  await client.call(settings.setVirtualHostedStyle, { vhs_state: true });
  const { http, text } = await getAt(host, '/beach.jpg');
  assert.deepEqual([http, text], [200, 'waves']);
  assert.equal((await getAt('objects.example.org:8080', '/photos/beach.jpg')).text, 'waves', 'paths go on working');
  assert.equal((await shown()).vhs_state, 'YES');
  await client.call(settings.setVirtualHostedStyle, { vhs_state: false });
  assert.notEqual((await getAt(host, '/beach.jpg')).text, 'waves');
});

test('addresses may name an account by its name once that is switched on, and not before', async () => {
  const path = '/v1/AUTH_webhosting/photos/beach.jpg';
  const get = () => wire({ method: 'GET', path, headers: { 'x-auth-token': ada.token } });
  assert.notEqual((await get()).http, 200);
  await client.call(settings.setTenantNameInUrl, { allow_tenant_name_in_url: true });
  const { http, text } = await get();
  assert.deepEqual([http, text], [200, 'waves']);
  assert.equal((await shown()).allow_tenant_name_in_url, 'YES');
  await client.call(settings.setTenantNameInUrl, { allow_tenant_name_in_url: false });
  assert.notEqual((await get()).http, 200);
});

test('who administers the array reaches the data of accounts only while that is switched on', async () => {
  const get = async () => (await objects.s3(owner).call('GET', `/${home}:photos/beach.jpg`)).status;
  assert.equal(await get(), 403);
  await client.call(users.enableAdminAccess, {});
  assert.deepEqual([await get(), (await shown()).admin_access_enabled], [200, 'YES']);
  await client.call(users.disableAdminAccess, {});
  assert.equal(await get(), 403);
});

/** Statuses of as many changes, and of as many reads, sent at once. */
async function burst(count: number): Promise<{ changes: number[]; reads: number[]; seconds: number }> {
  const from = Math.floor(Date.now() / 1000);
  const changes = await Promise.all(
    Array.from({ length: count }, (_, index) => s3.call('PUT', `/photos/${index}.jpg`, { body: 'x' })),
  );
  const seconds = Math.floor(Date.now() / 1000) - from + 1;
  const reads = await Promise.all(Array.from({ length: count }, () => s3.call('GET', '/photos/beach.jpg')));
  for (const one of changes) if (one.status !== 200) expect(one, 503, 'SlowDown');
  return { changes: changes.map(({ status }) => status), reads: reads.map(({ status }) => status), seconds };
}

test('an account makes as many changes a second as the limit says, and reads as it likes', async () => {
  await client.call(settings.setRateLimit, { enabled: true, global_rate_limit: 3 });
  const { changes, reads, seconds } = await burst(20);
  const done = changes.filter((status) => status === 200).length;
  assert.ok(done >= 3 && done <= 3 * seconds, `${done} in ${seconds} seconds`);
  assert.deepEqual(new Set(reads), new Set([200]));
  const { zswift_ratelimit: limit, zswift_ratelimit_enabled: enabled } = await shown();
  assert.deepEqual([limit, enabled], [3, 'YES']);
});

test('an account with a limit of its own goes by that, and by the common one again without', async () => {
  await client.call(accounts.setRateLimit, { account_id: home, enabled: true, rate_limit: 0 });
  assert.deepEqual(new Set((await burst(12)).changes), new Set([200]));
  await client.call(accounts.setRateLimit, { account_id: home, enabled: true, rate_limit: 1 });
  const { changes, seconds } = await burst(12);
  assert.ok(changes.filter((status) => status === 200).length <= seconds);
  await client.call(accounts.setRateLimit, { account_id: home, enabled: false });
  await client.call(settings.setRateLimit, { enabled: false });
  assert.deepEqual(new Set((await burst(12)).changes), new Set([200]));
});

test('a limit that was never set cannot be switched on', async () => {
  const other = await client.refused(settings.setRateLimit, { enabled: true, global_rate_limit: 0 });
  assert.equal(other.code, 7);
  await client.call(settings.setRateLimit, { enabled: true });
  assert.equal((await shown()).zswift_ratelimit, 3, 'the one before is good again');
  await client.call(settings.setRateLimit, { enabled: false });
});

test('new tokens live as long as is set', async () => {
  await client.call(settings.setTokenExpiry, { token_expiry: 5 });
  const who = { account: home, user: 'ada', password: PASSWORD };
  const { token, token_expire_at } = await objects.anonymous.call(users.resetToken, who);
  const minutes = (Date.parse(token_expire_at) - Date.now()) / 60_000;
  assert.ok(minutes > 3.5 && minutes <= 5, token_expire_at);
  assert.equal((await objects.swift({ ...ada, token }, 'HEAD', '/photos')).status, 204);
  assert.equal((await shown()).token_expiry, 5);
});

/** Over TLS without verification: the answer and the subject of the certificate. */
function overTls(path: string): Promise<{ status: number; name: string }> {
  const { hostname, port } = new URL(objects.dataUrl);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, agent: false, rejectUnauthorized: false }, (response) => {
      const name = String((response.socket as TLSSocket).getPeerCertificate().subject.CN);
      response.resume();
      resolve({ status: response.statusCode ?? 0, name });
    });
    sent.on('error', reject);
    sent.end();
  });
}

const certificates = () => client.call(settings.getSslCertificate, {});

test('the data path speaks HTTPS once that is switched on, with a certificate of its own', async () => {
  await assert.rejects(overTls('/'));
  await client.call(settings.setSslTermination, { ssltermination: true });
  assert.deepEqual(await overTls('/'), { status: 403, name: 'vsa-00000001' });
  await assert.rejects(fetch(objects.dataUrl), 'HTTP is no longer spoken');
  assert.equal(await publicUrl(), `https://objects.example.org:8080/v1/AUTH_${home}`);
  assert.equal((await shown()).ssl_termination, 'on');
  const {
    default_ssl_domain: own,
    current_ssl_domain: current,
    current_ssl_daysremaining: days,
  } = await certificates();
  assert.deepEqual([own, current], ['vsa-00000001', 'vsa-00000001']);
  assert.ok(Number(days) > 3_640 && Number(days) <= 3_653, String(days));
});

test('a certificate that is installed is shown from the next connection on', async () => {
  const { key, cert } = selfSigned('objects.example.org', ['objects.example.org'], Date.now());
  await client.call(settings.setSslCertificate, { ssl_pem: `${cert}\n${key}` });
  assert.equal((await overTls('/')).name, 'objects.example.org');
  const { default_ssl_domain: own, current_ssl_domain: current, current_ssl_enddate: end } = await certificates();
  assert.deepEqual([own, current], ['vsa-00000001', 'objects.example.org']);
  assert.match(String(end), /^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
});

test('what is no certificate with its key is refused, and the one before is kept', async () => {
  const mine = selfSigned('mine.example.org', [], Date.now());
  const other = selfSigned('other.example.org', [], Date.now());
  const past = selfSigned('past.example.org', [], Date.parse('2001-01-01T00:00:00Z'));
  const cases: readonly (readonly [string, RegExp])[] = [
    ['no PEM at all', /^ssl_pem must contain one private key/],
    [mine.cert, /^ssl_pem must contain one private key/],
    [mine.key, /^ssl_pem must contain a certificate/],
    [`${mine.key}${other.cert}`, /^ssl_pem has a private key that is not that of its first certificate/],
    [`${past.key}${past.cert}`, /^ssl_pem has a certificate that has ended/],
    [
      mine.key + mine.cert.replace(/[A-Za-z0-9]{40}/, 'x'.repeat(40)),
      /^ssl_pem has a certificate that cannot be read|not that of/,
    ],
  ];
  for (const [ssl_pem, message] of cases) {
    const refused = await client.refused(settings.setSslCertificate, { ssl_pem });
    assert.equal(refused.code, 7);
    assert.match(refused.message, message);
    assert.ok(!refused.message.includes('BEGIN'), 'a key is never quoted');
  }
  assert.equal((await overTls('/')).name, 'objects.example.org');
});

test('HTTP is spoken again once HTTPS is switched off', async () => {
  await client.call(settings.setSslTermination, { ssltermination: false });
  expect(await objects.s3(ada).call('GET', '/photos/beach.jpg'), 200);
  await assert.rejects(overTls('/'));
});

test('prices, the currency and the rules for passwords are shown as they were set', async () => {
  await client.call(settings.setBillingCurrency, { billing_unit: 'krw' });
  await client.call(settings.setTransferPrices, { upload_rate_per_gb: '0.01' });
  await client.call(settings.setTransferPrices, { download_rate_per_gb: '0.09' });
  await client.call(settings.setPasswordRules, { expire_password: true, expire_password_after: 3600 });
  const { billing_unit, upload_rate_per_gb, download_rate_per_gb, expire_password, expire_password_after } =
    await shown();
  assert.deepEqual(
    [billing_unit, upload_rate_per_gb, download_rate_per_gb, expire_password, expire_password_after],
    ['krw', 0.01, 0.09, 'YES', 3600],
  );
});

test('what the array cannot do is refused in words that say where it is done', async () => {
  const mtu = await client.refused(settings.setMtu, { fe_mtu: 9000, force: true });
  assert.deepEqual([mtu.http, mtu.code], [200, 50100]);
  assert.match(mtu.message, /network interfaces of the machine; set it there \(ip link set mtu\)/);
  for (const [name, value] of [
    ['fe_mtu', 1],
    ['public_mtu', 1],
    ['force', 'maybe'],
  ] as const) {
    const wrong = await client.refused(settings.setMtu, { fe_mtu: 9000, [name]: value });
    assert.deepEqual([wrong.code, wrong.message.split(' ')[0]], [7, name], 'what is wrong is named first');
  }
  const nat = await client.refused(settings.setLoadBalancerMode, { mode: 'nat' });
  assert.equal(nat.code, 50100);
  assert.match(nat.message, /answer their clients themselves \(dr\)/);
  await client.call(settings.setLoadBalancerMode, { mode: 'dr' });
});

test('new drives join in steps of the share that is set', async () => {
  const policy = async () => (await client.call(policies.get, { name: 'policy-00000001' })).policy;
  const joined = async () =>
    (await client.call(messages.list, {})).messages.filter(({ msg_title }) => msg_title.includes('joined')).length;
  await client.call(settings.setPolicyExpansion, { expansion_percent: 50 });
  const [before, first] = [await policy(), await joined()];
  const { drives } = objects.configuration;
  await objects.addDrive(drives.length + 1);
  await objects.addDrive(drives.length + 2);
  await until(async () => (await joined()) === first + 2, 'both have joined');
  const grown = await policy();
  assert.equal(grown.total_drives, before.total_drives + 2);
  assert.ok(grown.ring_version >= before.ring_version + 2, `${before.ring_version} to ${grown.ring_version}`);
});

test('every change is in the event log with who made it', async () => {
  const { messages: found } = await client.call(messages.list, { attr_key: 'settings', attr_value: 'array' });
  const titles = found.map(({ msg_title }) => msg_title);
  for (const title of ['The region is eu-west-3.', 'The data path speaks HTTPS.', 'Prices are in krw.'])
    assert.ok(titles.includes(title), titles.join('\n'));
});

test('the settings show what was set, and no password', async () => {
  const before = await shown();
  assert.deepEqual(
    [before.encryption, before.region, before.load_balancer_mode, before.smtp_host],
    ['none', 'us-east-1', 'dr', null],
  );
  await client.call(settings.setEncryptionPassword, { encryption_pwd: 'open sesame' });
  assert.equal((await shown()).encryption, 'off');
  await client.call(settings.activateEncryption, {});
  await client.call(settings.setPolicyExpansion, { expansion_percent: 25 });
  await client.call(settings.setApiErrorAlerts, { enabled: true, threshold: 7 });
  await client.call(settings.setDnsServers, {
    custom_name_servers: '192.0.2.53',
    dns_lookup_domain: 'corp.example.org',
  });
  await client.call(settings.setMailServer, {
    smtp_host: '127.0.0.1',
    smtp_port: 2525,
    smtp_user: 'array',
    smtp_password: 'never shown',
    smtp_from: 'array@example.org',
  });
  const now = await shown();
  assert.equal(now.encryption, 'on');
  assert.deepEqual([now.expansion_percent, now.api_errors_enabled, now.api_errors_threshold], [25, 'YES', 7]);
  assert.deepEqual([now.custom_name_servers, now.dns_lookup_domain], [['192.0.2.53'], 'corp.example.org']);
  assert.deepEqual([now.smtp_host, now.smtp_port, now.smtp_secure], ['127.0.0.1', 2525, 'NO']);
  assert.deepEqual([now.smtp_user, now.smtp_from], ['array', 'array@example.org']);
  assert.doesNotMatch(JSON.stringify(now), /never shown/);
});

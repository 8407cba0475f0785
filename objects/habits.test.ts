import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { until } from '../testing/waiting.ts';
import type { Sent } from '../kernel/process/testing/wire.ts';
import { PASSWORD } from './testing/test-objects.ts';
import { preparations } from './testing/valid-requests.ts';
import { startWalk } from './testing/walk.ts';

/**
 * Goal: scripts that were written for such arrays long ago work as they are.
 * Method: what they are in the habit of sending, byte by byte over a socket, to a real array.
 */
const walk = await startWalk({ after });
const { admin, home } = walk;

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'content-type': 'application/json' };
const XML = { 'content-type': 'application/xml', accept: 'application/xml' };

interface Reply {
  readonly status: number;
  readonly message?: string;
  readonly [field: string]: unknown;
}
type Item = Readonly<Record<string, unknown>>;

async function reply(sent: Sent, key: string | undefined = admin.key): Promise<Reply> {
  const { http, text } = await walk.send(sent, key);
  assert.equal(http, 200, text);
  return (JSON.parse(text) as { response: Reply }).response;
}

async function done(sent: Sent, key?: string): Promise<Reply> {
  const answer = await reply(sent, key);
  assert.equal(answer.status, 0, `${sent.method} ${sent.path}: ${answer.message}`);
  return answer;
}

const get = (path: string) => done({ method: 'GET', path: `/api${path}` });
const post = (path: string, form: string) => done({ method: 'POST', path: `/api${path}`, headers: FORM, body: form });
const xml = async (method: string, path: string, body?: string) =>
  (await walk.send({ method, path: `/api${path}`, headers: XML, body }, admin.key)).text;

test('a script in forms: sign in, open an account, add a user, let them in, disable, delete, clean up', async () => {
  const signIn = `account=objs_admin&user=dana&password=${encodeURIComponent(admin.password)}`;
  const { user } = await post('/users/authenticate.json', signIn);
  const key = `access_key=${String((user as Item)['access_key'])}`;
  const call = async (method: string, path: string, form = '') => {
    const sent = { method, path: `/api${path}`, headers: FORM, body: `${key}&${form}` };
    const { http, text } = await walk.send(sent);
    const { response } = JSON.parse(text) as { response: Reply };
    assert.deepEqual([http, response.status], [200, 0], text);
    return response;
  };
  const { count: id } = await call('POST', '/objs/accounts.json', 'name=scripted');
  const { code } = await call(
    'POST',
    '/objs/users.json',
    `username=kim&email=kim%40example.org&account_id=${String(id)}&notify_on_events=NO&role=account_admin`,
  );
  const set = await walk.send({
    method: 'POST',
    path: '/api/users/kim/password_code.json',
    headers: FORM,
    body: `code=${encodeURIComponent(String(code))}&new_password=${PASSWORD}&username=kim&account=scripted`,
  });
  assert.equal((JSON.parse(set.text) as { status: number }).status, 0, 'there is no level around it');
  await call('GET', `/objs/accounts/${String(id)}/users.json`);
  await call('POST', `/objs/accounts/${String(id)}/disable.json`);
  await call('POST', `/objs/accounts/${String(id)}/enable.json`);
  await call('DELETE', `/objs/accounts/${String(id)}.json`, 'force=YES&timeout=-1');
  await call('DELETE', `/objs/accounts/${String(id)}/cleanup.json`, 'timeout=-1');
  assert.equal((await reply({ method: 'GET', path: `/api/objs/accounts/${String(id)}.json` })).status, 50001);
});

test('limit=0 and no limit mean all, and count is the total of what matches', async () => {
  for (let made = 0; made < 3; made++) await walk.objects.account(walk.name('many'));
  const all = await get('/objs/accounts.json');
  assert.equal((all['accounts'] as Item[]).length, all['count']);
  const none = await get('/objs/accounts.json?start=0&limit=0');
  assert.deepEqual(none, all);
  const some = await get('/objs/accounts.json?start=1&limit=2');
  assert.deepEqual([some['accounts'], some['count']], [(all['accounts'] as Item[]).slice(1, 3), all['count']]);
  const filtered = await get('/objs/accounts?filter_field=name&filter_value=many&limit=1');
  assert.deepEqual([(filtered['accounts'] as Item[]).length, filtered['count']], [1, 3]);
  const beyond = await get(`/objs/accounts.json?start=${Number(all['count']) + 5}`);
  assert.deepEqual([beyond['accounts'], beyond['count']], [[], all['count']]);
});

test('lists that count in pages do so from 1', async () => {
  for (let made = 0; made < 3; made++)
    await post(
      '/requests.json',
      `request_action=register_account&arguments[username]=kim&arguments[account]=${walk.name('wanted')}&arguments[email]=kim@example.org&arguments[password]=${PASSWORD}`,
    );
  const all = (await get('/requests.json?state=pending'))['requests'] as Item[];
  assert.equal(all.length, 3);
  const pages = [1, 2].map(async (page) => (await get(`/requests?state=pending&limit=2&page=${page}`))['requests']);
  assert.deepEqual(await Promise.all(pages), [all.slice(0, 2), all.slice(2)]);
});

test('structures are taken as JSON, as JSON in a form, as name[key]=value and as XML', async () => {
  const wanted = { username: 'kim', email: 'kim@example.org', password: PASSWORD };
  const named = () => ({ ...wanted, account: walk.name('formed') });
  const request_action = 'register_account';
  const asJson = JSON.stringify({ request_action, arguments: named() });
  await done({ method: 'POST', path: '/api/requests', headers: JSON_TYPE, body: asJson });
  await post('/requests', `request_action=${request_action}&arguments=${encodeURIComponent(JSON.stringify(named()))}`);
  const { account, username, email, password } = named();
  const inXml = `<request><request-action>${request_action}</request-action><arguments><account>${account}</account><username>${username}</username><email>${email}</email><password>${password}</password></arguments></request>`;
  assert.match(await xml('POST', '/requests', inXml), /<request-id type="integer">\d+<\/request-id>/);
  const few = await reply({
    method: 'DELETE',
    path: '/api/objs/policies/policy-00000001/drives.json?drives[0][type]=SSD_10GB&drives[0][quantity]=3',
  });
  assert.equal(few.status, 50100, few.message);
});

test('GET and DELETE may carry a body, in any form', async () => {
  for (const [headers, body] of [
    [JSON_TYPE, JSON.stringify({ filter_field: 'name', filter_value: 'webhosting', limit: 1 })],
    [FORM, 'filter_field=name&filter_value=webhosting&limit=1'],
    [
      { 'content-type': 'text/xml' },
      '<request><filter-field>name</filter-field><filter-value>webhosting</filter-value><limit type="integer">1</limit></request>',
    ],
  ] as const) {
    const { accounts } = await done({ method: 'GET', path: '/api/objs/accounts', headers, body });
    assert.deepEqual(
      (accounts as Item[]).map(({ id }) => id),
      [home],
    );
  }
  const id = await walk.objects.account(walk.name('short-lived'));
  const path = `/api/objs/accounts/${id}`;
  assert.equal((await reply({ method: 'DELETE', path, headers: FORM, body: 'force=NO' })).status, 7);
  await done({ method: 'DELETE', path, headers: JSON_TYPE, body: '{"force":"YES","timeout":-1}' });
});

test('reports and the access log take their form fields on GET', async () => {
  const body = `report_time=custom&report_type=summary&fromdate=2026-01-01&todate=2026-01-31&account_id=${home}`;
  await done({ method: 'GET', path: '/api/objs/usage_reports/generate.json', headers: FORM, body });
  const sort = 'limit=5&page=1&sort[0][property]=created&sort[0][direction]=DESC';
  const { access_logs: logs } = await done({ method: 'GET', path: '/api/access_logs', headers: FORM, body: sort });
  assert.ok((logs as Item[]).length > 0);
});

test('every application error is HTTP 200 with a code and a message, a bad key included', async () => {
  const wanted = [
    [{ method: 'GET', path: '/api/objs/accounts/nowhere.json' }, admin.key, 50001],
    [{ method: 'GET', path: '/api/objs/drives/volume-99999999.json' }, admin.key, 50005],
    [{ method: 'POST', path: '/api/objs/accounts.json' }, admin.key, 7],
    [{ method: 'GET', path: '/api/objs/accounts.json' }, undefined, 5],
    [{ method: 'GET', path: '/api/objs/accounts.json' }, 'no such key', 5],
    [{ method: 'GET', path: '/api/objs/accounts.json' }, walk.people.member.key, 6],
    [{ method: 'POST', path: '/api/settings/set_mtu.json?fe_mtu=9000' }, admin.key, 50100],
  ] as const;
  for (const [sent, key, code] of wanted) {
    const { http, text } = await walk.send(sent, key);
    const { response } = JSON.parse(text) as { response: Reply };
    assert.deepEqual([http, response.status], [200, code], text);
    assert.deepEqual(Object.keys(response), ['status', 'message']);
  }
  const nowhere = await walk.send({ method: 'GET', path: '/api/nowhere.json' }, admin.key);
  assert.deepEqual([nowhere.http, (JSON.parse(nowhere.text) as { response: Reply }).response.status], [404, 4]);
});

test('the suffix decides the format, then the Accept header, then it is JSON', async () => {
  const typeOf = async (path: string, accept?: string) => {
    const sent = { method: 'GET', path: `/api${path}`, ...(accept !== undefined && { headers: { accept } }) };
    return String((await walk.send(sent, admin.key)).headers['content-type']).split(';')[0];
  };
  assert.equal(await typeOf('/objs/drives'), 'application/json');
  assert.equal(await typeOf('/objs/drives', '*/*'), 'application/json');
  assert.equal(await typeOf('/objs/drives', 'application/xml'), 'application/xml');
  assert.equal(await typeOf('/objs/drives.json', 'application/xml'), 'application/json');
  assert.equal(await typeOf('/objs/drives.xml', 'application/json'), 'application/xml');
  assert.equal(await typeOf('/objs/drives/nowhere.xml'), 'application/xml');
  assert.equal(await typeOf(`/objs/accounts/${home}/iops.xml?service=proxy&subserver=object`), 'application/xml');
});

test('XML goes in and comes out, with dashed names, types and a root of its own', async () => {
  const made = await xml('POST', '/objs/accounts', '<?xml version="1.0"?><account><name>from-xml</name></account>');
  assert.match(made, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<create-account-response><status type="integer">0</);
  const list = await xml('GET', '/objs/accounts.xml?filter_field=name&filter_value=from-xml');
  assert.match(list, /-response><status type="integer">0<\/status><accounts type="array"><account>/);
  assert.match(list, /<is-system-account>False<\/is-system-account>/);
  assert.match(list, /<public-url-list type="array"><[a-z-]+>http:/);
  assert.match(list, /<description nil="true"\/>|<description [^>]*nil="true"[^>]*>/);
  assert.match(list, /<count type="integer">1<\/count>/);
  const drives = await xml('GET', '/objs/drives.xml');
  assert.match(drives, /<created-at type="datetime">\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC</);
  const gone = await xml('GET', '/objs/accounts/nowhere');
  assert.match(gone, /-response><status type="integer">50001<\/status><status-msg>Account nowhere was not found\./);
});

test('a version in the path means the same', async () => {
  const { count } = await get('/objs/drives.json');
  for (const version of ['v1', 'v2', 'v12']) assert.equal((await get(`/${version}/objs/drives.json`))['count'], count);
});

test('booleans are YES, NO, 1, 0, true, false, on and off in any case', async () => {
  const words = ['YES', 'no', '1', '0', 'true', 'FALSE', 'on', 'Off', 'Yes', 'NO'];
  for (const [index, word] of words.entries()) {
    await post('/objs/settings/vhs_state', `vhs_state=${word}`);
    assert.equal((await get('/settings_config'))['vhs_state'], index % 2 === 0 ? 'YES' : 'NO', word);
  }
  for (const value of ['maybe', '2', ''])
    assert.equal((await reply({ method: 'POST', path: `/api/objs/settings/vhs_state?vhs_state=${value}` })).status, 7);
});

test('with timeout=0 work is submitted and goes on, and says so', async () => {
  const id = await walk.objects.account(walk.name('leaving'));
  const answer = await reply({ method: 'DELETE', path: `/api/objs/accounts/${id}.json?force=YES&timeout=0` });
  assert.equal(answer.status, objectsApi.asyncStatus);
  assert.equal(answer.status, 1073791826);
  assert.match(String(answer.message), /^The request has been submitted/);
  const state = async () => ((await get(`/objs/accounts/${id}`))['count'] as Item)['state'];
  await until(async () => (await state()) === 'deleted', 'it is deleted');
  const inXml = await xml('DELETE', `/objs/accounts/${id}/cleanup.xml?timeout=0`);
  assert.match(inXml, /<status type="integer">1073791826<\/status><status-msg>The request has been submitted/);
});

test('with timeout=0 drives and proxies leave after the reply', async () => {
  const spare = await preparations['policies.removeDrives']?.(walk, admin);
  const drives = encodeURIComponent(String(spare?.['drives']));
  const policy = '/api/objs/policies/policy-00000001';
  const removal = await reply({ method: 'DELETE', path: `${policy}/drives?drives=${drives}&timeout=0` });
  assert.equal(removal.status, objectsApi.asyncStatus, removal.message);
  await until(() => walk.objects.returned.length === 1, 'the drive was given back');

  await preparations['virtualControllers.removeProxies']?.(walk, admin);
  const proxies = async () =>
    ((await get('/objs/virtual_controllers'))['vcs'] as Item[]).filter(({ role }) => role === 'proxy').length;
  await until(async () => (await proxies()) === 1, 'there is a proxy');
  const path = '/api/objs/virtual_controllers/remove_proxy_vcs';
  assert.equal((await reply({ method: 'DELETE', path: `${path}?quantity=2&timeout=0` })).status, 50100);
  const answer = await reply({ method: 'DELETE', path: `${path}?quantity=1&timeout=0` });
  assert.equal(answer.status, objectsApi.asyncStatus, answer.message);
  await until(async () => (await proxies()) === 0, 'it is gone');
});

test('a policy is described anew when the reply comes, whatever the timeout', async () => {
  const path = '/api/objs/policies/policy-00000001';
  for (const timeout of ['0', '5', '-1']) {
    await done({ method: 'PUT', path: `${path}?full_description=waits-${timeout}&timeout=${timeout}` });
    assert.equal(
      ((await get('/objs/policies/policy-00000001'))['policy'] as Item)['full_description'],
      `waits-${timeout}`,
    );
  }
  for (const timeout of ['-2', 'soon', '1.5']) {
    const refused = await reply({ method: 'PUT', path: `${path}?full_description=x&timeout=${timeout}` });
    assert.equal(refused.status, 7);
    assert.match(String(refused.message), /^timeout /);
  }
});

test('with timeout=-1 it is waited for, and a timeout that is none is refused', async () => {
  const id = await walk.objects.account(walk.name('leaving'));
  const path = `/api/objs/accounts/${id}`;
  for (const timeout of ['-2', 'soon', '1.5'])
    assert.equal((await reply({ method: 'DELETE', path: `${path}?force=YES&timeout=${timeout}` })).status, 7);
  await done({ method: 'DELETE', path: `${path}.json?force=YES&timeout=-1` });
  assert.equal(((await get(`/objs/accounts/${id}`))['count'] as Item)['state'], 'deleted');
});

test('the same Idempotency-Key twice acts once, and with another body is an error', async () => {
  const name = walk.name('once');
  const ask = (key: string, form: string) =>
    reply({ method: 'POST', path: '/api/objs/accounts', headers: { ...FORM, 'idempotency-key': key }, body: form });
  const [first, second] = await Promise.all([ask('key-1', `name=${name}`), ask('key-1', `name=${name}`)]);
  assert.equal(first.status, 0, first.message);
  assert.deepEqual([second, await ask('key-1', `name=${name}`)], [first, first]);
  assert.equal((await ask('key-1', 'name=other')).status, 3);
  assert.equal((await ask('key-2', `name=${name}`)).status, 10096, 'a new key is a new request');
});

test('unknown parameters are ignored, in every form', async () => {
  await post('/objs/accounts', `name=${walk.name('extra')}&colour=blue&nested[a][b]=1&list[]=1`);
  await get('/objs/accounts?_dc=1234567890&page=1');
  const body = JSON.stringify({ limit: 1, colour: { deep: [1] }, filter_value: null });
  await done({ method: 'GET', path: '/api/objs/accounts', headers: JSON_TYPE, body });
});

test('the key goes in X-Access-Key, in the query or in the body; a username and password do, too', async () => {
  const path = '/api/objs/roles.json';
  const { key, password } = admin;
  const ways: readonly Sent[] = [
    { method: 'GET', path, headers: { 'x-access-key': key } },
    { method: 'GET', path: `${path}?access_key=${key}` },
    { method: 'GET', path, headers: FORM, body: `access_key=${key}` },
    { method: 'GET', path, headers: JSON_TYPE, body: JSON.stringify({ access_key: key }) },
    { method: 'GET', path, headers: { 'content-type': 'text/xml' }, body: `<r><access-key>${key}</access-key></r>` },
    { method: 'GET', path: `${path}?username=dana&password=${encodeURIComponent(password)}` },
  ];
  for (const sent of ways) {
    const { text } = await walk.send(sent);
    assert.equal((JSON.parse(text) as { response: Reply }).response.status, 0, text);
  }
});

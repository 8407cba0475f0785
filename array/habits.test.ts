import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { until } from '../testing/waiting.ts';
import * as things from './testing/things.ts';
import { startWalk } from './testing/walk.ts';
import type { Sent } from '../kernel/process/testing/wire.ts';

/**
 * Goal: scripts and drivers written for such arrays long ago work as they are.
 * Method: what they are in the habit of sending, byte by byte over a socket, to a real array.
 */
const walk = await startWalk({ after });
const { admin } = walk;
const pool = await things.pool(walk);

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'content-type': 'application/json' };
const XML = { 'content-type': 'application/xml', accept: 'application/xml' };
const GB = 1024;

interface Reply {
  readonly status: number;
  readonly message?: string;
  readonly [field: string]: unknown;
}

async function reply(sent: Sent): Promise<Reply> {
  const { http, text } = await walk.send(sent, admin.key);
  assert.equal(http, 200, text);
  return (JSON.parse(text) as { response: Reply }).response;
}

async function done(sent: Sent): Promise<Reply> {
  const answer = await reply(sent);
  assert.equal(answer.status, 0, `${sent.method} ${sent.path}: ${answer.message}`);
  return answer;
}

const get = (path: string) => done({ method: 'GET', path: `/api${path}` });
const post = (path: string, form: string) => done({ method: 'POST', path: `/api${path}`, headers: FORM, body: form });
const xml = async (method: string, path: string, body?: string) =>
  (await walk.send({ method, path: `/api${path}`, headers: XML, body }, admin.key)).text;

type Item = Readonly<Record<string, unknown>>;
const named = async (name: string) => {
  const { volumes } = await get(`/volumes.json?display_name=${name}`);
  return (volumes as Item[]).find((one) => one['display_name'] === name);
};
const newVolume = async (form = '') => {
  const name = walk.name('vol');
  const { vol_name } = await post('/volumes.json', `name=${name}&capacity=1G&pool=${pool}&block=YES${form}`);
  return { name, id: String(vol_name) };
};
const newServer = async () => {
  const name = walk.name('host');
  const { server_name } = await post('/servers.json', `display_name=${name}&iqn=iqn.2026-01.org.example:${name}`);
  return String(server_name);
};

test('a driver in forms: sign in, make, attach, snapshot, clone, expand, detach, delete', async () => {
  const signIn = `user=${admin.username}&password=${encodeURIComponent(admin.password)}`;
  const { user } = await post('/users/login.json', signIn);
  const key = `access_key=${String((user as Item)['access_key'])}`;
  const anybody = async (method: string, path: string, form = '') => {
    const { http, text } = await walk.send({ method, path: `/api${path}`, headers: FORM, body: `${key}&${form}` });
    const { response } = JSON.parse(text) as { response: Reply };
    assert.deepEqual([http, response.status], [200, 0], text);
    return response;
  };
  const create = `name=cinder-1&capacity=2G&pool=${pool}&block=YES&thin=YES&crypt=NO&attachpolicies=NO&dedupe=NO&compress=NO`;
  await anybody('POST', '/volumes.json', create);
  const { volumes } = await anybody('GET', '/volumes.json', 'display_name=cinder-1');
  const { name, cg_name: cg } = (volumes as Item[])[0] as { name: string; cg_name: string };
  const { vcontrollers } = await anybody('GET', '/vcontrollers.json', 'state=active');
  assert.ok((vcontrollers as Item[]).some(({ state, iscsi_ip: ip }) => state === 'active' && ip !== null));
  const { server_name: server } = await anybody(
    'POST',
    '/servers.json',
    'display_name=compute-1&iqn=iqn.2026-01.org.example:compute-1&os=Linux',
  );
  await anybody('POST', `/servers/${String(server)}/volumes.json`, `volume_name[]=${name}&force=NO`);
  const { servers } = await anybody('GET', `/volumes/${name}/servers.json`);
  assert.equal((servers as Item[])[0]?.['name'], server);
  await anybody('POST', `/consistency_groups/${cg}/snapshots.json`, 'display_name=snapshot-1');
  const { snapshots } = await anybody('GET', `/consistency_groups/${cg}/snapshots.json`);
  const { name: snapshot } = (snapshots as { name: string }[])[0]!;
  await anybody('POST', `/consistency_groups/${cg}/clone.json`, `name=cinder-2&snapshot=${snapshot}`);
  const clone = await named('cinder-2');
  assert.ok(clone, 'a clone is found by its name at once');
  await anybody('POST', `/volumes/${name}/expand.json`, 'capacity=1G');
  assert.equal((await named('cinder-1'))?.['virtual_capacity'], 3, 'expand adds');
  await anybody('POST', `/volumes/${name}/detach.json`, `server_name[]=${String(server)}&force=YES`);
  await anybody('DELETE', `/snapshots/${snapshot}.json`);
  for (const one of [name, clone['name']]) await anybody('DELETE', `/volumes/${String(one)}.json`, 'force=YES');
  assert.equal(await named('cinder-1'), undefined);
  await anybody('DELETE', `/servers/${String(server)}.json`);
});

test('limit=0 and no limit mean all, and count is the total of what matches', async () => {
  for (let made = 0; made < 3; made++) await newVolume();
  const all = await get('/volumes.json');
  assert.equal((all['volumes'] as Item[]).length, all['count']);
  const none = await get('/volumes.json?start=0&limit=0');
  assert.equal((none['volumes'] as Item[]).length, all['count']);
  const some = await get('/volumes.json?start=1&limit=2');
  assert.deepEqual([(some['volumes'] as Item[]).length, some['count']], [2, all['count']]);
  assert.deepEqual(some['volumes'], (all['volumes'] as Item[]).slice(1, 3));
  const beyond = await get(`/volumes.json?start=${Number(all['count']) + 5}`);
  assert.deepEqual([beyond['volumes'], beyond['count']], [[], all['count']]);
});

test('lists are taken as volume_name[]=a&volume_name[]=b, as a comma list in the body and in the path, and as JSON', async () => {
  const servers = [await newServer(), await newServer()];
  const volumes = (await Promise.all([1, 2, 3, 4, 5].map(() => newVolume()))).map(({ id }) => id);
  const path = `/servers/${servers.join(',')}/volumes`;
  await post(`${path}.json`, `volume_name[]=${volumes[0]}&volume_name[]=${volumes[1]}&access_type=ISCSI`);
  await post(path, `volume_name=${volumes[2]},${volumes[3]}&access_type=ISCSI`);
  const body = JSON.stringify({ volume_name: [volumes[4]], access_type: 'ISCSI' });
  await done({ method: 'POST', path: `/api${path}`, headers: JSON_TYPE, body });
  for (const server of servers) {
    const { volumes: attached } = await get(`/servers/${server}/volumes.json`);
    assert.deepEqual((attached as Item[]).map(({ name }) => name).sort(), [...volumes].sort());
  }
  const { volume } = await get(`/volumes/${volumes[0]}.json`);
  const { server_ext_names: names, status } = volume as Item;
  assert.deepEqual([names, status], [servers.join(','), 'In-use']);
  await post(`/volumes/${volumes[0]}/detach.json`, `servers=${servers.join(',')}`);
  const { volume: detached } = await get(`/volumes/${volumes[0]}.json`);
  assert.deepEqual([(detached as Item)['server_ext_names'], (detached as Item)['status']], ['', 'Available']);
});

test('GET and DELETE may carry a body, in any form', async () => {
  const { id, name } = await newVolume();
  for (const [headers, body] of [
    [JSON_TYPE, JSON.stringify({ display_name: name, limit: 1 })],
    [FORM, `display_name=${name}&limit=1`],
    [
      { 'content-type': 'text/xml' },
      `<request><display-name>${name}</display-name><limit type="integer">1</limit></request>`,
    ],
  ] as const) {
    const { volumes } = await done({ method: 'GET', path: '/api/volumes', headers, body });
    assert.deepEqual(
      (volumes as Item[]).map((one) => one['name']),
      [id],
    );
  }
  const cg = String((await named(name))?.['cg_name']);
  await post(`/consistency_groups/${cg}/snapshots`, 'display_name=in-the-way');
  const kept = await reply({ method: 'DELETE', path: `/api/volumes/${id}`, headers: FORM, body: 'force=NO' });
  assert.equal(kept.status, 10104);
  await done({ method: 'DELETE', path: `/api/volumes/${id}`, headers: JSON_TYPE, body: '{"force":"YES"}' });
});

test('what was made is found by its name at once', async () => {
  for (let round = 0; round < 5; round++) {
    const { id, name } = await newVolume();
    const found = await named(name);
    assert.deepEqual([found?.['name'], found?.['status']], [id, 'Available']);
    const copy = walk.name('copy');
    await post(`/consistency_groups/${String(found?.['cg_name'])}/clone.json`, `name=${copy}`);
    assert.ok(await named(copy), copy);
  }
});

test('every application error is HTTP 200 with a code and a message, a bad key included', async () => {
  const wanted = [
    [{ method: 'GET', path: '/api/volumes/volume-99999999.json' }, admin.key, 10081],
    [{ method: 'GET', path: '/api/raid_groups/RaidGroup-99.json' }, admin.key, 10009],
    [{ method: 'POST', path: '/api/volumes.json?name=x' }, admin.key, 7],
    [{ method: 'DELETE', path: `/api/pools/${pool}` }, admin.key, 10102],
    [{ method: 'GET', path: '/api/volumes.json' }, undefined, 5],
    [{ method: 'GET', path: '/api/volumes.json' }, 'no such key', 5],
    [{ method: 'POST', path: '/api/users?username=eve' }, walk.user.key, 6],
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
  assert.equal(await typeOf('/pools'), 'application/json');
  assert.equal(await typeOf('/pools', '*/*'), 'application/json');
  assert.equal(await typeOf('/pools', 'application/xml'), 'application/xml');
  assert.equal(await typeOf('/pools.json', 'application/xml'), 'application/json');
  assert.equal(await typeOf('/pools.xml', 'application/json'), 'application/xml');
  assert.equal(await typeOf(`/pools/${pool}.xml`), 'application/xml');
  assert.equal(await typeOf('/pools/pool-99999999.xml'), 'application/xml');
});

test('XML goes in and comes out, with dashed names, types and a root of its own', async () => {
  const body = `<?xml version="1.0"?><volume><name>from-xml</name><capacity>1G</capacity><pool>${pool}</pool><read-iops-capping type="integer">500</read-iops-capping></volume>`;
  const made = await xml('POST', '/volumes', body);
  const id = /<vol-name>(volume-[0-9a-f]{8})<\/vol-name>/.exec(made)?.[1];
  assert.match(made, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<create-volume-response><status type="integer">0</);
  const list = await xml('GET', '/volumes.xml?display_name=from-xml');
  assert.match(list, /<show-volumes-response><status type="integer">0<\/status><volumes type="array"><volume><name>/);
  assert.match(list, /<count type="integer">1<\/count>/);
  assert.match(list, /<display-name>from-xml<\/display-name>/);
  assert.match(list, /<virtual-capacity type="float">1<\/virtual-capacity>/);
  assert.match(list, /<read-iops-capping>500<\/read-iops-capping>/);
  assert.match(list, /<created-at type="datetime">\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000<\/created-at>/);
  const gone = await xml('GET', '/volumes/volume-99999999');
  assert.match(gone, /<show-volume-response><status type="integer">10081<\/status><status-msg>Volume volume-99999999/);
  assert.match(await xml('DELETE', `/volumes/${id}.xml`), /<delete-volume-response><status type="integer">0</);
});

test('a version in the path means the same', async () => {
  const { pools, count } = await get('/pools.json');
  for (const version of ['v1', 'v2', 'v12']) {
    const again = await get(`/${version}/pools.json`);
    assert.deepEqual([(again['pools'] as Item[]).length, again['count']], [(pools as Item[]).length, count]);
  }
  await post(`/v2/pools/${pool}/rename.json`, 'new_name=renamed');
  assert.equal(((await get(`/v2/pools/${pool}`))['pool'] as Item)['display_name'], 'renamed');
});

test('booleans are YES, NO, 1, 0, true, false, on and off in any case', async () => {
  const isReadOnly = async (volume: string) => {
    const { servers } = await get(`/volumes/${volume}/servers`);
    return (servers as Item[])[0]?.['read_only'];
  };
  const server = await newServer();
  const { id } = await newVolume();
  await post(`/servers/${server}/volumes`, `volume_name=${id}`);
  const words = ['YES', 'no', '1', '0', 'true', 'FALSE', 'on', 'Off', 'Yes', 'NO'];
  for (const [index, word] of words.entries()) {
    await post(`/volumes/${id}/attach_permissions`, `server_name=${server}&read_only=${word}`);
    assert.equal(await isReadOnly(id), index % 2 === 0 ? 'YES' : 'NO', word);
  }
  const path = `/api/volumes/${id}/attach_permissions`;
  for (const [value, shown] of [
    [true, 'YES'],
    [0, 'NO'],
  ]) {
    const body = JSON.stringify({ server_name: server, read_only: value });
    await done({ method: 'POST', path, headers: JSON_TYPE, body });
    assert.equal(await isReadOnly(id), shown);
  }
  const wrong = await reply({ method: 'POST', path: `${path}?server_name=${server}&read_only=maybe` });
  assert.equal(wrong.status, 7);
  assert.match(String(wrong.message), /^read_only must be true or false/);
});

test('capacities are 5G, 5120M, 1T or a bare number of GB, or parts of one', async () => {
  for (const [capacity, gigabytes] of [
    ['5G', 5],
    ['5120M', 5],
    ['5', 5],
    ['1T', GB],
    ['512M', 0.5],
    ['5g', 5],
    ['5GB', 5],
    ['1.5G', 1.5],
  ] as const) {
    const name = walk.name('sized');
    await post('/volumes.json', `name=${name}&capacity=${capacity}&pool=${pool}`);
    const found = await named(name);
    assert.ok(found);
    assert.equal(found['virtual_capacity'], gigabytes, capacity);
    await done({ method: 'DELETE', path: `/api/volumes/${String(found['name'])}` });
  }
  for (const capacity of ['5X', '-5G', '0', 'five', '1,5G']) {
    const wrong = await reply({ method: 'POST', path: `/api/volumes?name=x&pool=${pool}&capacity=${capacity}` });
    assert.equal(wrong.status, 7, capacity);
    assert.match(String(wrong.message), /^capacity must be /);
  }
});

test('with timeout=0 work is submitted and goes on, and says so', async () => {
  const { id, name } = await newVolume();
  const answer = await reply({ method: 'DELETE', path: `/api/volumes/${id}.json?timeout=0` });
  assert.equal(answer.status, arrayApi.asyncStatus);
  assert.equal(answer.status, 1073751835);
  assert.match(String(answer.message), /^The request has been submitted/);
  await until(async () => (await named(name)) === undefined, 'it goes');
  const again = await newVolume();
  await done({ method: 'DELETE', path: `/api/volumes/${again.id}.json?timeout=-1` });
  assert.equal(await named(again.name), undefined, 'with -1 it is waited for');
});

test('the same Idempotency-Key twice acts once, and with another body is an error', async () => {
  const name = walk.name('once');
  const ask = (key: string, form: string) =>
    reply({ method: 'POST', path: '/api/volumes.json', headers: { ...FORM, 'idempotency-key': key }, body: form });
  const form = `name=${name}&capacity=1G&pool=${pool}`;
  const [first, second] = await Promise.all([ask('key-1', form), ask('key-1', form)]);
  assert.equal(first.status, 0, first.message);
  assert.deepEqual([second, await ask('key-1', form)], [first, first]);
  assert.equal((await get(`/volumes?display_name=${name}`))['count'], 1);
  const other = await ask('key-1', form.replace('1G', '2G'));
  assert.equal(other.status, 3);
  assert.match(String(other.message), /use a new key/);
  assert.equal((await ask('key-2', form)).status, 10096, 'a new key is a new request');
});

test('unknown parameters are ignored, in every form', async () => {
  const name = walk.name('extra');
  await post('/volumes.json', `name=${name}&capacity=1G&pool=${pool}&colour=blue&nested[a][b]=1&list[]=1`);
  assert.ok(await named(name));
  await get(`/volumes.json?_dc=1234567890&page=1&display_name=${name}`);
  const body = JSON.stringify({ limit: 1, colour: { deep: [1] }, access_type: null });
  await done({ method: 'GET', path: '/api/volumes', headers: JSON_TYPE, body });
  await xml('GET', '/volumes', '<request><colour type="array"><item>1</item></colour></request>');
});

test('an empty form field is no value', async () => {
  const name = walk.name('empty');
  await post('/volumes.json', `name=${name}&capacity=1G&pool=${pool}&export_name=&read_iops_capping=&crypt=&dedupe=`);
  assert.equal((await named(name))?.['encryption'], 'NO');
});

test('the key goes in X-Access-Key, in X-Token, in the query or in the body', async () => {
  const path = '/api/pools.json';
  const ways: readonly Sent[] = [
    { method: 'GET', path, headers: { 'x-access-key': admin.key } },
    { method: 'GET', path, headers: { 'x-token': admin.key } },
    { method: 'GET', path: `${path}?access_key=${admin.key}` },
    { method: 'GET', path, headers: FORM, body: `access_key=${admin.key}` },
    { method: 'GET', path, headers: JSON_TYPE, body: JSON.stringify({ access_key: admin.key }) },
    {
      method: 'GET',
      path,
      headers: { 'content-type': 'text/xml' },
      body: `<r><access-key>${admin.key}</access-key></r>`,
    },
  ];
  for (const sent of ways) {
    const { text } = await walk.send(sent);
    assert.equal((JSON.parse(text) as { response: Reply }).response.status, 0, text);
  }
});

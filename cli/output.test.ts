import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { fakePortal, refused, runCommand } from './testing/portal.ts';

const tank = {
  id: 7,
  name: 'tank',
  status: 'created',
  status_message: null,
  product: 'storage_array',
  engine: 'engine_small',
  drives: { SSD_10GB: 2 },
  management_url: 'http://127.64.0.1:7480',
  internal_name: 'vsa-00000001',
  description: 'a, "b"',
};
const replies = {
  'GET /arrays': { status: 'success', data: [tank] },
  'GET /arrays/7': { status: 'success', data: tank },
};
const rowsOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

test('a list has the columns people look for; wide has more, and --columns those that are named', async (t) => {
  const portal = await fakePortal(t, replies);
  const titles = async (...options: string[]) => rowsOf((await portal.run(['arrays', 'list', ...options])).out)[0];
  assert.deepEqual(await titles(), ['ID', 'NAME', 'STATUS', 'KIND', 'ENGINE', 'DRIVES', 'ADDRESS']);
  assert.deepEqual((await titles('--output', 'wide'))?.slice(7), ['DESCRIPTION', 'INTERNAL NAME']);
  // By its title, in any form, or as the API calls it.
  const chosen = await portal.run(['arrays', 'list', '--columns', 'Internal-Name,management_url,name']);
  assert.deepEqual(rowsOf(chosen.out), [
    ['INTERNAL NAME', 'MANAGEMENT_URL', 'NAME'],
    ['vsa-00000001', 'http://127.64.0.1:7480', 'tank'],
  ]);
  const one = await portal.run(['arrays', 'get', '7', '--columns', 'name,status']);
  assert.equal(one.out, 'name    tank\nstatus  created\n');
});

test('a terminal that is narrow leaves columns out, and says which', async (t) => {
  const portal = await fakePortal(t, replies);
  const { out, err } = await portal.runWatched(['arrays', 'list'], 50);
  assert.match(out, /│ 7 +│ tank │ created │/);
  assert.equal(
    err,
    'Left out: engine, drives, address, description, internal name. --output wide shows all, --columns those you name.\n',
  );
  const wide = await portal.runWatched(['arrays', 'list', '--output', 'wide'], 50);
  assert.match(wide.out, /vsa-00000001/);
  assert.equal(wide.err, '');
});

test('programs get JSON, YAML or CSV', async (t) => {
  const portal = await fakePortal(t, replies);
  const printed = async (...options: string[]) => (await portal.run(['arrays', 'list', ...options])).out;
  const whole = { status: 'success', data: [tank] };
  assert.deepEqual(JSON.parse(await printed('--output', 'json')), whole);
  assert.equal(await printed('--output', 'json'), await printed('--json'));
  assert.deepEqual(parse(await printed('--output', 'YAML')), whole);
  assert.equal(
    await printed('--output', 'csv', '--columns', 'name,description'),
    'name,description\ntank,"a, ""b"""\n',
  );
  assert.match(await printed('--output', 'csv'), /^id,name,description,status,/);
});

test('a field is asked for in any case, or by the heading of its column', async (t) => {
  const portal = await fakePortal(t, replies);
  const printed = async (field: string) => (await portal.run(['arrays', 'list', '--field', field])).out;
  assert.equal(await printed('name'), 'tank\n');
  assert.equal(await printed('NAME'), 'tank\n');
  assert.equal(await printed('Management-URL'), await printed('management_url'));
  assert.equal(await printed('ADDRESS'), await printed('management_url'));
});

test('what cannot be printed is refused before anything is sent', async (t) => {
  const portal = await fakePortal(t, { 'POST /arrays': { data: tank } });
  const order = ['arrays', 'create', '--name', 'tank', '--provider', 'local', '--drives', 'SSD_10GB=2'];
  const refusals: [string[], RegExp][] = [
    [['--field', 'adress'], /^granary: The reply has no field adress\. Nothing was sent\.\n {2}It has: id, name, /],
    [['--wait', '--field', 'adress'], /no field adress/],
    [['--columns', 'name,adress'], /There is no column adress\. Nothing was sent\./],
    [['--output', 'xml'], /--output must be one of table, wide, json, yaml, csv, not xml\./],
    [['--output', 'json', '--columns', 'name'], /--columns goes with tables and CSV/],
    [['--json', '--output', 'csv'], /contradict each other/],
    [['--field', 'name', '--json'], /--field prints one field bare/],
  ];
  for (const [options, words] of refusals) {
    const { code, err } = await portal.run([...order, ...options]);
    assert.equal(code, 2, options.join(' '));
    assert.match(err, words);
  }
  assert.equal(portal.seen.length, 0);
});

test('names stand for numbers wherever the portal asks for one', async (t) => {
  const portal = await fakePortal(t, {
    'GET /users': { status: 'success', data: [{ id: 3, username: 'ann' }] },
    'GET /providers': { status: 'success', data: [{ id: '1', name: 'local', key: 'loc' }] },
    'GET /clouds': { status: 'success', data: [{ id: '2', name: 'here' }] },
    'GET /clouds/2/drive_types': { status: 'success', drive_types: [{ id: 4, name: '10 GB SSD', key: 'SSD_10GB' }] },
    'GET /clouds/2/drive_types/4': { status: 'success', data: {} },
    'PUT /users/3': { status: 'success', data: {} },
    'POST /pricing': { status: 'success' },
    'POST /vlans/allocate': { status: 'success', message: 'ok' },
  });
  const ok = async (...args: string[]) => {
    const { code, err } = await portal.run(args);
    assert.equal(code, 0, err);
    return portal.seen.at(-1);
  };
  assert.equal((await ok('user', 'update', 'ann', '--auto-approved'))?.path, '/api/users/3');
  assert.equal((await ok('drive-types', 'get', 'here', 'SSD_10GB'))?.path, '/api/clouds/2/drive_types/4');
  assert.equal((await ok('drive-types', 'list', 'here'))?.path, '/api/clouds/2/drive_types');
  const vlan = await ok('vlans', 'allocate', '--provider-id', 'loc', '--vlan', '5');
  assert.deepEqual(JSON.parse(String(vlan?.body)), { provider_id: 1, vlan: 5 });
  const unknown = await portal.run(['users', 'delete', 'bob']);
  assert.deepEqual([unknown.code, unknown.err], [4, 'granary: There is no user named bob.\n']);
});

test('a name of several is an error that lists them', async (t) => {
  const portal = await fakePortal(t, {
    'GET /tenants': {
      status: 'success',
      data: [
        { id: 5, name: 'dev', username: 'ann' },
        { id: 9, name: 'dev', username: 'bob' },
      ],
    },
    'GET /array_requests': { status: 'success', data: [{ id: 8, name: 'tank', status: 'pending' }] },
    'POST /array_requests/8/deny': { status: 'success', message: 'Denied.' },
  });
  const { code, err } = await portal.run([
    'virtual-networks',
    'create',
    '--name',
    'n',
    '--provider-id',
    '1',
    '--tenant-id',
    'dev',
    '--cidr',
    '10.0.0.0/24',
    '--vlan-id',
    '7',
  ]);
  assert.equal(code, 2);
  assert.equal(err, 'granary: 2 tenants are named dev; give one of these in place of the name:\n  5  ann\n  9  bob\n');
  assert.equal((await portal.run(['array-requests', 'deny', 'tank', '--reason', 'full'])).code, 0);
  assert.equal(portal.seen.at(-2)?.query.get('status'), 'pending');
});

test('a label that may not be looked up leaves the identifier', async (t) => {
  const portal = await fakePortal(t, {
    'GET /array_requests': { status: 'success', data: [{ id: 8, name: 'tank', status: 'pending', user_id: 3 }] },
    'GET /users': refused(403, 'Your role does not allow this.'),
  });
  const { out } = await portal.run(['array-requests', 'list', '--columns', 'user']);
  assert.equal(out, 'USER\n3\n');
});

test('a secret that is shown once stands in the record, and the line after it says so', async (t) => {
  const webhook = { id: 3, name: 'on-call', target_url: 'http://127.0.0.1:9/hooks' };
  const portal = await fakePortal(t, {
    'POST /webhooks': { status: 'success', webhook, secret: 'sign-with-this' },
    'PUT /webhooks/3': { status: 'success', webhook, secret: null },
  });
  const created = await portal.run(['webhooks', 'create', '--name', 'on-call', '--target-url', webhook.target_url]);
  assert.match(created.out, /^name +on-call$/m);
  assert.match(created.out, /^secret +sign-with-this$/m);
  assert.equal(created.err, 'The secret is shown only now; keep it.\n');
  const changed = await portal.run(['webhooks', 'update', '3', '--severity', '3']);
  assert.doesNotMatch(changed.out + changed.err, /secret/);
});

test('a list of what failed that is empty says that all was done', async (t) => {
  const path = 'POST /volumes/volume-00000001/quotas';
  const portal = await fakePortal(t, { [path]: { response: { status: 0, errors: [] } } });
  const quotas = '[{"source_id":1000,"source_type":"user","nas_type":"uid","limit":"1024"}]';
  const line = ['array', 'quotas', 'set', 'volume-00000001', '--quotas', quotas, '--url', portal.url];
  const { code, out, err } = await runCommand(line, { GRANARY_ACCESS_KEY: 'k' });
  assert.deepEqual([code, out], [0, 'Done.\n'], err);
});

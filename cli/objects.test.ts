import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../testing/folders.ts';
import { fakePortal, runCommand, type Replies } from './testing/portal.ts';

const R = (fields: object) => ({ response: { status: 0, ...fields } });
const account = {
  id: 'a'.repeat(32),
  name: 'acme',
  enabled: 'True',
  state: 'normal',
  is_system_account: 'False',
  public_url_list: [],
  email: null,
  description: null,
  create_time: '0',
  update_time: '0',
};

/** A portal that knows one array, and the array itself, at one address. */
async function store(
  t: TestContext,
  replies: Replies = {},
  kind: 'object_storage' | 'storage_array' = 'object_storage',
) {
  const listed = { id: 7, name: 'store', status: 'created' };
  const place: { url?: string } = {};
  const shown = () => ({
    status: 'success',
    data: {
      ...listed,
      management_url: place.url,
      initial_passcode: 'first passcode',
      ...(kind === 'object_storage' && { proxy_virtual_controllers: 0 }),
    },
  });
  const portal = await fakePortal(t, {
    'GET /arrays': { status: 'success', data: [listed] },
    'GET /arrays/7': shown,
    'POST /users/authenticate': R({ user: { id: 1, username: 'admin', access_key: 'a key' } }),
    ...replies,
  });
  place.url = portal.url;
  const env = { GRANARY_URL: portal.url, GRANARY_TOKEN: 'tok', XDG_CONFIG_HOME: temporaryFolder(t) };
  const run = (args: string, stdin = '') => runCommand(args.split(' '), env, stdin);
  return { ...portal, env, run };
}

const bodyOf = (body: Buffer | undefined) => JSON.parse(String(body)) as unknown;

test('the owner signs in to object storage by its name, with the passcode the portal shows', async (t) => {
  const { run, seen, env, url } = await store(t, { 'GET /objs/accounts': R({ accounts: [account], count: 1 }) });
  const { code, out, err } = await run('objects login store');
  assert.equal(code, 0, err);
  const file = join(env.XDG_CONFIG_HOME, 'granary', 'arrays.json');
  assert.equal(out, `Signed in to store at ${url} as admin of objs_admin; the key is kept in ${file}.\n`);
  assert.deepEqual(bodyOf(seen.at(-1)?.body), { account: 'objs_admin', user: 'admin', password: 'first passcode' });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.doesNotMatch(readFileSync(file, 'utf8'), /first passcode/);
  const list = await run('objects accounts list');
  assert.match(list.out, /^NAME +ENABLED .*\nacme +True/);
  assert.equal(seen.at(-1)?.headers['x-access-key'], 'a key');
});

test('a user of an account signs in with a password: the passcode is not tried', async (t) => {
  const { run, seen } = await store(t);
  const without = await run('objects login store --account acme --user carol');
  assert.equal(without.code, 2);
  assert.match(without.err, /The password is missing/);
  assert.ok(!seen.some(({ path }) => path.endsWith('/authenticate')));
  const { code, out } = await run('objects login store --account acme --user carol --password-stdin', 'her own\n');
  assert.equal(code, 0);
  assert.match(out, /as carol of acme;/);
  assert.deepEqual(bodyOf(seen.at(-1)?.body), { account: 'acme', user: 'carol', password: 'her own' });
});

test('a refusal of object storage ends with an exit code of its own and its words', async (t) => {
  const no = (status: number, message: string) => ({ response: { status, message } });
  const { run } = await store(t, {
    'GET /objs/accounts': no(6, 'Your role does not allow this; it needs the role objs_admin.'),
    'GET /objs/policies/cold': no(50007, 'Storage policy cold was not found.'),
    'POST /objs/accounts': no(10096, 'The name acme is taken.'),
    'GET /objs/drives': no(5, 'Invalid credentials.'),
  });
  await run('objects login store');
  const outcome = async (args: string) => {
    const { code, err } = await run(args);
    return [code, err];
  };
  const role = 'granary: Your role does not allow this; it needs the role objs_admin.\n';
  assert.deepEqual(await outcome('objects accounts list'), [3, role]);
  assert.deepEqual(await outcome('objects policies get cold'), [4, 'granary: Storage policy cold was not found.\n']);
  const key = 'granary: Invalid credentials. Sign in with `granary objects login`.\n';
  assert.deepEqual(await outcome('objects drives list'), [3, key]);
  assert.deepEqual(await outcome('objects accounts create --name acme'), [1, 'granary: The name acme is taken.\n']);
});

test('what is wrong with parameters is said of the options, and is a mistake of the command', async (t) => {
  const message =
    'name must have at most 64 characters; description is required, unless name or force is given; not both.';
  const { run } = await store(t, { 'POST /objs/accounts': { response: { status: 7, message } } });
  await run('objects login store');
  const { code, err } = await run('objects accounts create --name acme');
  assert.equal(code, 2);
  assert.equal(
    err,
    [
      'granary: The command was not accepted:',
      '  --name must have at most 64 characters',
      '  --description is required, unless --name or force is given; not both',
      '',
    ].join('\n'),
  );
});

test('the id of a new account is shown as such', async (t) => {
  const { run } = await store(t, { 'POST /objs/accounts': R({ count: '0123abcd' }) });
  await run('objects login store');
  assert.equal((await run('objects accounts create --name acme')).out, 'id  0123abcd\n');
  for (const field of ['id', 'count'])
    assert.equal((await run(`objects accounts create --name acme --field ${field}`)).out, '0123abcd\n');
});

test('drives leave a policy as types and quantities, and accounts are saved as CSV', async (t) => {
  const csv = 'Name,ID\nacme,1\n';
  const headers = { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename="accounts.csv"' };
  const { run, seen } = await store(t, {
    'DELETE /objs/policies/policy-00000001/drives': R({}),
    'GET /objs/accounts/export': { headers, body: csv },
  });
  await run('objects login store');
  const wanted = '[{"type":"SSD_10GB","quantity":1}]';
  const { code, err } = await run(`objects policies remove-drives policy-00000001 --drives ${wanted}`);
  assert.equal(code, 0, err);
  const { path, query, body } = seen.at(-1) ?? {};
  assert.equal(path, '/api/objs/policies/policy-00000001/drives');
  assert.match(query?.get('drives') ?? String(body), /"type":"SSD_10GB","quantity":1/);
  assert.equal((await run('objects accounts export --output -')).out, csv);
});

test('an array of the other kind is recognized, and a user who is not signed in learns how', async (t) => {
  const { run, env } = await store(t, {}, 'storage_array');
  const wrong = await run('objects login store');
  assert.deepEqual([wrong.code, wrong.err], [1, 'granary: store is of another kind; use `granary array`.\n']);
  const nowhere = await run('objects accounts list');
  assert.deepEqual([nowhere.code, nowhere.err.includes('granary objects login NAME')], [3, true]);
  const outsider = await runCommand(['objects', 'accounts', 'list', '--url', env.GRANARY_URL], env);
  assert.deepEqual([outsider.code, /You are not signed in to/.test(outsider.err)], [3, true]);
});

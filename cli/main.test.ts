import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../testing/folders.ts';
import { main } from './main.ts';
import { fakePortal, refused, runCommand } from './testing/portal.ts';
import { contents } from './testing/contents.ts';
import { readSecret } from './terminal.ts';
import { FakeTerminal, peopledTerminal } from './testing/terminal.ts';

const tank = { id: 7, name: 'tank', status: 'created', status_message: null, progress: 100 };
const created = { status: 'success', data: tank };
const found = { status: 'success', data: [tank] };
const message = (text: string) => ({ status: 'success', message: text });

const order = ['arrays', 'create', '--name', 'tank', '--provider', 'local', '--drives', 'SSD_10GB=2'];

test('every kind of option arrives as the API takes it', async (t) => {
  const portal = await fakePortal(t, { 'POST /arrays': { data: { ...tank, id: null } } });
  const options = ['--flash-cache-capacity', '200', '--no-create-raid-10-pools', '--data-reduction-bundle=false'];
  const { code, err } = await portal.run([...order, ...options, '--description', '']);
  assert.equal(code, 0, err);
  assert.deepEqual(JSON.parse(portal.seen[0]!.body.toString()), {
    name: 'tank',
    provider: 'local',
    drives: { SSD_10GB: 2 },
    flash_cache_capacity: 200,
    create_raid_10_pools: false,
    data_reduction_bundle: false,
    description: '',
  });
  assert.equal(portal.seen[0]?.headers['x-token'], 'tok');
});

test('a switch takes its value in every form', async (t) => {
  const portal = await fakePortal(t, { 'PUT /users/3': { status: 'success', data: {} } });
  const forms = [['--auto-approved'], ['--auto-approved', 'yes'], ['--auto-approved=TRUE'], ['--no-auto-approved']];
  const more = [['--auto-approved=0'], ['--auto-approved', 'off'], []];
  const values = [];
  for (const form of [...forms, ...more]) {
    // A number after the switch is the user, not the switch's value.
    const { code } = await portal.run(['user', 'update', ...form, '3']);
    assert.equal(code, 0);
    values.push((JSON.parse(portal.seen.at(-1)!.body.toString()) as { auto_approved?: boolean }).auto_approved);
  }
  assert.deepEqual(values, [true, true, true, false, false, false, undefined]);
  const wrong = await portal.run(['user', 'update', '3', '--auto-approved=maybe']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /--auto-approved must be true or false/);
});

test('lists take commas and repetition', async (t) => {
  const portal = await fakePortal(t, { 'POST /arrays/7/remove_vni': { status: 0, message: 'ok' } });
  const { code } = await portal.run(['arrays', 'remove-interface', '7', '--vni-ids', '1,2', '--vni-ids', '3']);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(portal.seen[0]!.body.toString()), { vni_ids: [1, 2, 3] });
});

test('a file is uploaded from its path', async (t) => {
  const portal = await fakePortal(t, { 'POST /pricing': { status: 'success' } });
  const path = join(temporaryFolder(t), 'prices.csv');
  writeFileSync(path, 'kind,key,hourly_price_usd\n');
  const { code, out } = await portal.run(['pricing', 'upload', '--provider-ids', '1', '--file', path]);
  assert.equal(code, 0);
  assert.equal(out, 'Done.\n');
  assert.match(portal.seen[0]!.body.toString(), /filename="prices\.csv"[^]*kind,key,hourly_price_usd/);
});

test('everything that is missing or wrong is reported at once, by option, and nothing is sent', async (t) => {
  const portal = await fakePortal(t, {});
  const { code, err } = await portal.run(['arrays', 'create', '--kind', 'tape', '--flash-cache-capacity', 'much']);
  assert.equal(code, 2);
  assert.deepEqual(err.trim().split('\n'), [
    'granary: The command is not complete or not right:',
    '  --name is required',
    '  --provider is required',
    '  --kind must be one of storage_array, object_storage',
    '  --flash-cache-capacity must be a whole number',
    '  --drives is required',
  ]);
  assert.equal(portal.seen.length, 0);
});

test('a secret is read from standard input with -', async (t) => {
  const portal = await fakePortal(t, { 'POST /users': { status: 'success', data: { id: 2, username: 'ann' } } });
  const { code } = await portal.run(['users', 'create', '--username', 'ann', '--password', '-'], 'correct horse\n');
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(portal.seen[0]!.body.toString()), { username: 'ann', password: 'correct horse' });
  const missing = await portal.run(['users', 'create', '--username', 'ann']);
  assert.deepEqual([missing.code, missing.err.includes('--password is required')], [2, true]);
});

test('a secret that is missing is asked for, and not shown', async (t) => {
  const portal = await fakePortal(t, { 'POST /users': { status: 'success', data: { id: 2, username: 'ann' } } });
  const { terminal, type, rawModes } = peopledTerminal();
  Object.assign(terminal.env, { GRANARY_URL: portal.url, GRANARY_TOKEN: 'tok' });
  const running = main(['users', 'create', '--username', 'ann'], terminal);
  setImmediate(() => type('secretx\u007f-word\r'));
  assert.equal(await running, 0);
  assert.equal((JSON.parse(portal.seen[0]!.body.toString()) as { password: string }).password, 'secret-word');
  assert.deepEqual(rawModes, [true, false]);
  assert.ok(!terminal.err.includes('secret-word'));
});

test('a secret that a person types for - is asked for, and not shown', async (t) => {
  const portal = await fakePortal(t, { 'POST /users': { status: 'success', data: { id: 2, username: 'ann' } } });
  const { terminal, type, rawModes } = peopledTerminal();
  Object.assign(terminal.env, { GRANARY_URL: portal.url, GRANARY_TOKEN: 'tok' });
  const running = main(['users', 'create', '--username', 'ann', '--password', '-'], terminal);
  setImmediate(() => type('secret-word\r'));
  assert.equal(await running, 0);
  assert.equal((JSON.parse(portal.seen[0]!.body.toString()) as { password: string }).password, 'secret-word');
  assert.deepEqual(rawModes, [true, false]);
  assert.match(terminal.err, /\(--password\): \n$/);
});

test('a secret of several lines ends with Ctrl-D', async () => {
  const { terminal, type } = peopledTerminal();
  const asked = readSecret(terminal, 'PEM: ', { hasLines: true });
  type('one\rtwo\r\u0004');
  assert.equal(await asked, 'one\ntwo\n');
});

test('an array may be named', async (t) => {
  const portal = await fakePortal(t, { 'GET /arrays': found, 'GET /arrays/7': created });
  assert.equal((await portal.run(['arrays', 'get', 'tank'])).code, 0);
  assert.deepEqual(
    portal.seen.map(({ path, query }) => `${path}?${query.toString()}`),
    ['/api/arrays?name=tank', '/api/arrays/7?'],
  );
  const unknown = await portal.run(['arrays', 'get', 'pond']);
  assert.deepEqual([unknown.code, unknown.err], [4, 'granary: There is no array named pond.\n']);
});

test('--json prints the reply as the API gave it', async (t) => {
  const portal = await fakePortal(t, { 'GET /arrays': found });
  const { out } = await portal.run(['arrays', 'list', '--json']);
  assert.deepEqual(JSON.parse(out), found);
});

test('people get tables, messages and the number of records', async (t) => {
  const headers = { 'x-total-count': '40' };
  const portal = await fakePortal(t, {
    'GET /arrays': { headers, body: JSON.stringify(found) },
    'GET /users': { status: 'success', data: [] },
    'GET /provider_groups': { status: 'success', data: { provider_groups: [{ id: '1', name: 'europe' }] } },
    'GET /vlans/available_vlans_for_provider': { status: 'success', data: [1000, 1001] },
    'GET /pricing': {
      status: 'success',
      data: { io_engines: { p1: { name: 'local', data: { s: { value: '0.1' } } } } },
    },
    'POST /arrays/7/cache': message('Request 3 was submitted.'),
    'GET /settings/log_level': { log_level: 'info' },
  });
  const list = await portal.run(['arrays', 'list', '--limit', '1']);
  assert.match(list.out, /^ID +NAME +STATUS .*\n7 +tank +created/);
  assert.match(list.err, /^1 of 40;/);
  assert.equal((await portal.run(['users', 'list'])).out, 'None.\n');
  assert.match((await portal.run(['provider-groups', 'list'])).out, /^1 +europe/m);
  assert.equal((await portal.run(['vlans', 'list-available', '--provider-id', '1'])).out, '1000\n1001\n');
  assert.match((await portal.run(['pricing', 'get'])).out, /local +p1 +s=0\.1|p1 +local +s=0\.1/);
  const cache = await portal.run(['arrays', 'set-cache', '7', '--flash-cache-capacity', '200']);
  assert.equal(cache.out, 'Request 3 was submitted.\n');
  assert.match((await portal.run(['settings', 'get-log-level'])).out, /^log_level +info/);
});

test("a file is saved where one says, else under the server's name, and replaces nothing unasked", async (t) => {
  const headers = { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename="../bill.zip"' };
  const portal = await fakePortal(t, { 'GET /billing_items': { headers, body: 'PK' } });
  const folder = temporaryFolder(t);
  const before = process.cwd();
  process.chdir(folder);
  t.after(() => process.chdir(before));
  const window = ['--start-datetime', '2026-01-01 00:00', '--end-datetime', '2026-02-01 00:00'];
  const download = (...options: string[]) => portal.run(['billing', 'download', ...window, ...options]);
  assert.equal((await download()).out, 'Saved bill.zip (2 bytes).\n');
  assert.equal(readFileSync(join(folder, 'bill.zip'), 'utf8'), 'PK');
  const again = await download();
  assert.deepEqual([again.code, /exists already/.test(again.err)], [1, true]);
  assert.equal((await download('--output', 'bill.zip')).code, 0);
  assert.equal((await download('--output', '-')).out, 'PK');
});

test('exit codes tell refusals apart', async (t) => {
  const portal = await fakePortal(t, {
    'DELETE /users/1': refused(409, 'User admin is the last administrator; make another one first.'),
    'GET /users': refused(403, 'Your role does not allow this; it needs the role admin.'),
    'GET /clouds': refused(401, 'Invalid credentials.'),
    'GET /arrays/9': refused(404, 'There is no array 9.'),
    'GET /tenants': refused(500, 'Something went wrong on our side.'),
    'POST /array_requests/1/deny': refused(400, 'reason is too long.', [{ field: 'reason', message: 'is too long' }]),
  });
  const outcome = async (...args: string[]) => {
    const { code, err, out } = await portal.run(args);
    assert.equal(out, '');
    assert.ok(!err.includes('    at '), 'no stack');
    return [code, err];
  };
  const last = 'granary: User admin is the last administrator; make another one first.\n';
  assert.deepEqual(await outcome('users', 'delete', '1'), [1, last]);
  assert.deepEqual(await outcome('tenants', 'list'), [1, 'granary: Something went wrong on our side.\n']);
  const denied = ['array-requests', 'deny', '1', '--reason', 'x'];
  assert.deepEqual(await outcome(...denied), [2, 'granary: The command was not accepted:\n  --reason is too long\n']);
  assert.equal((await outcome('users', 'list'))[0], 3);
  assert.deepEqual(await outcome('clouds', 'list'), [
    3,
    'granary: Invalid credentials. Sign in with `granary login`.\n',
  ]);
  assert.deepEqual(await outcome('arrays', 'get', '9'), [4, 'granary: There is no array 9.\n']);
});

test('no portal, no token and no such command have exit codes of their own', async (t) => {
  const XDG_CONFIG_HOME = temporaryFolder(t);
  const nowhere = await runCommand(['arrays', 'list', '--url', 'http://127.0.0.1:1'], { GRANARY_TOKEN: 't' });
  assert.equal(nowhere.code, 5);
  assert.match(nowhere.err, /^granary: No answer from http:\/\/127\.0\.0\.1:1: .*--url/);
  const asleep = await runCommand(['array', 'volumes', 'list', '--url', 'http://127.91.99.99:7480'], {
    GRANARY_ACCESS_KEY: 'k',
  });
  assert.equal(asleep.code, 5);
  assert.match(asleep.err, /ECONNREFUSED.*`granary status` says whether the array is up\.$/m);
  const outsider = await runCommand(['arrays', 'list'], { XDG_CONFIG_HOME });
  assert.equal(outsider.code, 3);
  assert.match(outsider.err, /granary login/);
  for (const args of [['frobnicate'], ['arrays', 'frobnicate'], ['arrays', 'get'], ['arrays', 'list', '--no-such']]) {
    const wrong = await runCommand(args, { GRANARY_TOKEN: 't' });
    assert.equal(wrong.code, 2, args.join(' '));
    assert.match(wrong.err, /^granary: /);
  }
  const badPath = await runCommand(['arrays', 'get', '..'], { GRANARY_TOKEN: 't' });
  assert.deepEqual([badPath.code, badPath.err.includes('<array-id> must name something')], [2, true]);
});

test('help and version succeed on standard output', async () => {
  for (const args of [['--help'], ['help'], ['arrays', '--help'], ['help', 'arrays'], ['arrays', 'create', '--help']]) {
    const { code, out, err } = await runCommand(args, {});
    assert.deepEqual([code, err, /Usage: granary/.test(out)], [0, '', true], args.join(' '));
  }
  assert.match((await runCommand(['--version'], {})).out, /^\d+\.\d+\.\d+\n$/);
});

test('--debug shows where an error came from', async (t) => {
  const portal = await fakePortal(t, {});
  const { err } = await portal.run(['arrays', 'get', '9', '--debug']);
  assert.match(err, /^granary: There is no `granary arrays get`\.\nCommandFailure: .*\n {4}at [^]*Caused by: ApiError/);
});

test('what a portal says cannot steer the terminal', async (t) => {
  const portal = await fakePortal(t, { 'GET /arrays/9': refused(404, 'gone \u001b[2J') });
  const { err } = await portal.run(['arrays', 'get', '9']);
  assert.equal(err, 'granary: gone \ufffd[2J\n');
});

/** Replies one after the other; the last one stays. */
function inTurn(...replies: readonly object[]): () => object {
  const left = [...replies];
  return () => (left.length > 1 ? left.shift() : left[0]) as object;
}

const creating = (status_message: string, progress: number) => ({
  data: [{ ...tank, id: null, status: 'creating', status_message, progress }],
});

test('--wait after create finds the array by its name and shows it when it is created', async (t) => {
  const portal = await fakePortal(t, {
    'POST /arrays': { data: { ...tank, id: null, status: 'creating' } },
    'GET /arrays': inTurn({ data: [] }, creating('Waiting for an administrator to approve request 1', 0), found),
    'GET /arrays/7': created,
  });
  const { code, out, err } = await portal.run([...order, '--wait', '--json']);
  assert.equal(code, 0, err);
  assert.deepEqual(JSON.parse(out), created);
  assert.deepEqual(err.trim().split('\n'), [
    'Array tank: creating: Waiting for an administrator to approve request 1, 0%',
    'Array tank: done',
  ]);
});

test('--wait ends with the reason when the work fails', async (t) => {
  const failed = { data: [{ ...tank, status: 'failed', status_message: 'Request 4 was denied: no budget' }] };
  const portal = await fakePortal(t, {
    'POST /arrays': { data: { ...tank, id: null } },
    'GET /arrays': inTurn(creating('Starting its process', 50), failed),
  });
  const { code, err } = await portal.run([...order, '--wait']);
  assert.equal(code, 1);
  assert.match(err, /\ngranary: Array tank failed: Request 4 was denied: no budget\n$/);
});

test('--wait tells an array that vanished from one that was to be deleted', async (t) => {
  const portal = await fakePortal(t, {
    'POST /arrays': { data: { ...tank, id: null } },
    'GET /arrays': inTurn(creating('', 0), { data: [] }),
    'DELETE /arrays/7': message('Array tank is being deleted.'),
    'GET /arrays/7/contents': contents({ volumes: 0, attached_volumes: 0 }),
    'GET /arrays/7': inTurn({ data: { ...tank, status: 'deleting' } }, refused(404, 'There is no array 7.')),
  });
  const vanished = await portal.run([...order, '--wait']);
  assert.equal(vanished.code, 1);
  assert.match(vanished.err, /Array tank is gone/);
  const deleted = await portal.run(['arrays', 'delete', '7', '--wait']);
  assert.equal(deleted.code, 0);
  assert.equal(deleted.out, 'Done.\n');
});

test('--wait gives up after --wait-timeout, and says that the work goes on', async (t) => {
  const portal = await fakePortal(t, {
    'POST /arrays/7/hibernate': message('Array tank is being put into hibernating state.'),
    'GET /arrays/7': { data: { ...tank, status: 'hibernating' } },
  });
  const { code, err } = await portal.run(['arrays', 'hibernate', '7', '--wait', '--wait-timeout', '0.3']);
  assert.equal(code, 1);
  assert.match(err, /Array 7 is still hibernating after 0\.3 s; the work goes on/);
  assert.equal((await portal.run(['arrays', 'hibernate', '7', '--wait', '--wait-timeout', 'long'])).code, 2);
});

test('login keeps the token, the next command uses it, logout forgets it', async (t) => {
  const portal = await fakePortal(t, {
    'POST /token': { status: 'success', data: { token: 'fresh' } },
    'GET /arrays': found,
  });
  const env = { XDG_CONFIG_HOME: temporaryFolder(t) };
  const login = ['login', '--url', portal.url, '--user', 'admin'];
  const signedIn = await runCommand([...login, '--password-stdin'], env, 'pass word\n');
  assert.equal(signedIn.code, 0, signedIn.err);
  assert.deepEqual(JSON.parse(portal.seen[0]!.body.toString()), { username: 'admin', password: 'pass word' });
  assert.equal((await runCommand(['arrays', 'list'], env)).code, 0);
  assert.equal(portal.seen.at(-1)?.headers['x-token'], 'fresh');
  assert.equal((await runCommand(['logout'], env)).code, 0);
  assert.equal((await runCommand(['arrays', 'list', '--url', portal.url], env)).code, 3);
  assert.equal((await runCommand(login, { ...env, GRANARY_PASSWORD: 'from outside' })).code, 0);
  assert.equal((await runCommand(login, env)).code, 2);
});

test('a password on the command line is refused, and what to use is said', async () => {
  for (const login of [['login'], ['array', 'login', 'tank']]) {
    for (const given of [['--password', 'hunter22'], ['--password=hunter22'], ['--password']]) {
      const { code, out, err } = await runCommand([...login, '--user', 'ann', ...given], {});
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, /can be seen by all users of this machine.*--password-stdin/s);
      assert.doesNotMatch(err, /hunter22/);
    }
  }
});

test('a wrong password is exit code 3, and nothing is kept', async (t) => {
  const portal = await fakePortal(t, { 'POST /token': refused(401, 'Invalid credentials.') });
  const env = { XDG_CONFIG_HOME: temporaryFolder(t), GRANARY_PASSWORD: 'wrong' };
  const { code, err } = await runCommand(['login', '--url', portal.url, '--user', 'admin'], env);
  assert.deepEqual([code, err], [3, `granary: The portal at ${portal.url} does not know this user and password.\n`]);
  assert.equal((await runCommand(['logout'], env)).out, 'You were not signed in.\n');
});

test('a portal that is not on this machine and not encrypted is pointed out', async () => {
  const terminal = new FakeTerminal({ env: { GRANARY_PASSWORD: 'x' } });
  await main(['login', '--url', 'http://granary.invalid', '--user', 'a'], terminal);
  assert.match(terminal.err, /^Note: http:\/\/granary\.invalid is not encrypted/);
});

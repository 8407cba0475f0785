import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pathParams, type Operation } from '@granary/contract';
import type { Values } from '../kernel/http/testing/encodings.ts';
import { isDeclared } from '../kernel/process/testing/declared.ts';
import { PASSWORD } from './testing/test-objects.ts';
import { validValues } from './testing/valid-requests.ts';
import { objectsOperations, startWalk, statusOf } from './testing/walk.ts';

/**
 * Goal: errors have their code, and a message that says what to do.
 * Method: one array in which everything that can stand in the way does; and every operation, sent to things that do
 * not exist.
 */
const walk = await startWalk({ after });
const { admin, people, client, api, home } = walk;

const operationOf = (id: string): Operation => {
  const found = objectsOperations.find((one) => one.id === id);
  assert.ok(found, `${id} is not served`);
  return found;
};

async function refusal(operation: Operation, values: Values, key: string | undefined = admin.key) {
  const answer = await walk.ask(operation, values, key);
  const { code, message } = statusOf(answer);
  assert.equal(answer.http, 200, answer.text);
  assert.notEqual(code, 0, `${operation.id} was not refused`);
  assert.ok(isDeclared(operation.endpoint, code), `the contract of ${operation.id} lacks error ${code}`);
  return { code, message };
}

const disabled = await walk.objects.account('disabled');
await walk.objects.user(disabled, 'dora', 'account_admin');
await client.call(api.accounts.disable, { account_id: disabled });
const deleted = await walk.objects.account('deleted');
await client.call(api.accounts.delete, { account_id: deleted, force: true, timeout: -1 });
const system = admin.accountId;
const decided = await client.call(api.requests.create, {
  request_action: 'register_account',
  arguments: { username: 'kim', account: 'decided', email: 'kim@example.org', password: PASSWORD },
});
await client.call(api.requests.deny, { id: decided.request_id });

type Case = readonly [
  what: string,
  operation: string,
  values: Values,
  code: number,
  message: RegExp,
  key?: string | undefined,
];

const user = { username: 'new', email: 'new@example.org', account_id: home, role: 'member' };
const request = (changes: object) => ({
  request_action: 'register_account',
  arguments: { username: 'kim', account: 'wanted', email: 'kim@example.org', password: PASSWORD, ...changes },
});

const cases: readonly Case[] = [
  ['a name that is taken', 'accounts.create', { name: 'webhosting' }, 10096, /^The name webhosting is taken/],
  ['a name that differs by case alone', 'accounts.create', { name: 'WebHosting' }, 10096, /is taken/],
  [
    'a deletion without force',
    'accounts.delete',
    { account_id: home, force: 'NO' },
    7,
    /^force must be YES: with an account goes all it holds/,
  ],
  ['the account of the array itself', 'accounts.delete', { account_id: system, force: 'YES' }, 50100, /objs_admin/],
  ['the account of the array itself', 'accounts.disable', { account_id: system }, 50100, /objs_admin/],
  ['an account that is still there', 'accounts.cleanUp', { account_id: home }, 50100, /delete/],
  ['an account that was deleted', 'accounts.enable', { account_id: deleted }, 50100, /delet/],
  [
    'an own limit without a number',
    'accounts.setRateLimit',
    { account_id: home, enabled: 'YES' },
    7,
    /^rate_limit is required where enabled is YES/,
  ],
  ['a user that is there', 'users.create', { ...user, username: 'ada' }, 10096, /^The name ada is taken/],
  [
    'an administrator of the array outside its account',
    'users.create',
    { ...user, role: 'objs_admin' },
    7,
    /^role must be account_admin or member in webhosting/,
  ],
  ['an address that is none', 'users.create', { ...user, email: 'nobody at all' }, 7, /^email /],
  ['a user of no account', 'users.create', { ...user, account_id: deleted }, 50100, /delet/],
  ['oneself', 'users.delete', { id: admin.id }, 50100, /^You cannot remove yourself; ask another administrator/],
  [
    'the last administrator of an account',
    'users.disable',
    { user_id: people.stranger.id },
    20010,
    /eve is the last administrator; make another one first/,
  ],
  [
    'a user that is not there',
    'users.resetS3Secret',
    { username: 'nobody', account: 'webhosting' },
    50003,
    /^User nobody was not found/,
  ],
  [
    'a wrong password',
    'users.authenticate',
    { account: 'webhosting', user: 'ada', password: 'wrong' },
    5,
    /^Invalid credentials\.$/,
    '',
  ],
  [
    'a user of a disabled account',
    'users.authenticate',
    { account: 'disabled', user: 'dora', password: PASSWORD },
    50002,
    /^Account disabled is disabled\.$/,
    '',
  ],
  [
    'a password that is short',
    'users.changePassword',
    { account: 'webhosting', user: 'mo', password: PASSWORD, new_password: 'short' },
    50011,
    /^A password has at least \d+ characters/,
    '',
  ],
  [
    'the password of before',
    'users.changePassword',
    { account: 'webhosting', user: 'mo', password: PASSWORD, new_password: PASSWORD },
    50011,
    /must not be the present one/,
    '',
  ],
  [
    'a code that is none',
    'users.usePasswordCode',
    { account: 'webhosting', username: 'mo', code: 'guess', new_password: 'Pick-An0ther' },
    5,
    /^This code sets no password/,
    '',
  ],
  ['a password that is weak', 'requests.create', request({ password: 'password' }), 50011, /^A password /, ''],
  ['an address that is none', 'requests.create', request({ email: 'kim at home' }), 7, /email/, ''],
  ['what was decided', 'requests.approve', { id: decided.request_id }, 20009, /^Request \d+ was denied already/],
  ['no drives', 'policies.removeDrives', { name: 'policy-00000001', drives: '[]' }, 7, /^drives /],
  [
    'more drives than there are',
    'policies.removeDrives',
    { name: 'policy-00000001', drives: '[{"type":"SSD_10GB","quantity":3}]' },
    50100,
    /needs 2 drives and would be left with 1; remove fewer/,
  ],
  [
    'more proxies than there are',
    'virtualControllers.removeProxies',
    { quantity: 1 },
    50100,
    /^The array has 0 proxy controllers/,
  ],
  ['a packet size', 'settings.setMtu', { fe_mtu: 9000 }, 50100, /set it there \(ip link set mtu\)/],
  ['answers through a load balancer', 'settings.setLoadBalancerMode', { mode: 'nat' }, 50100, /\(dr\)/],
  [
    'encryption without a password',
    'settings.activateEncryption',
    {},
    50100,
    /^No encryption password is set; set one in the encryption settings/,
  ],
  [
    'a common limit that was never set',
    'settings.setRateLimit',
    { enabled: 'YES' },
    7,
    /^global_rate_limit must be sent: no limit has been set yet/,
  ],
  [
    'what is no certificate',
    'settings.setSslCertificate',
    { ssl_pem: 'none' },
    7,
    /^ssl_pem must contain one private key/,
  ],
  [
    'a name server that is none',
    'settings.setDnsServers',
    { custom_name_servers: '192.0.2.999' },
    7,
    /^custom_name_servers /,
  ],
  [
    'a mail server where clouds keep their secrets',
    'settings.setMailServer',
    { smtp_host: '169.254.169.254' },
    13,
    /169\.254\.169\.254/,
  ],
  [
    'a day that is none',
    'usageReports.generate',
    { report_time: 'custom', fromdate: '2026-02-30', todate: '2026-03-01' },
    7,
    /fromdate/,
  ],
  ['a custom report without days', 'usageReports.generate', { report_time: 'custom' }, 7, /fromdate/],
  ['a caller without the role', 'settings.get', {}, 6, /needs the role objs_admin/, people.accountAdmin.key],
];

for (const [what, id, values, code, message, key] of cases) {
  test(`${id} refuses ${what} with ${code}`, async () => {
    const refused = await refusal(operationOf(id), values, key === '' ? undefined : key);
    assert.equal(refused.code, code, refused.message);
    assert.match(refused.message, message);
  });
}

/** Codes of things that do not exist, by the first part of the path that names their kind. */
const notFound: Readonly<Record<string, number>> = {
  accounts: 50001,
  users: 50003,
  requests: 50004,
  drives: 50005,
  virtual_controllers: 50006,
  policies: 50007,
  load_balancer_groups: 50008,
  object_storage_destinations: 50009,
};

for (const operation of objectsOperations) {
  const [name] = pathParams(operation.endpoint.path);
  const kind = operation.endpoint.path.split('/').find((part) => part in notFound);
  // A guess of a username with a code does not reveal which users exist.
  if (name === undefined || kind === undefined || operation.id === 'users.usePasswordCode') continue;
  test(`${operation.id} says that ${name} is not there`, async () => {
    const values = await validValues(operation, walk, admin);
    const unknown = kind === 'requests' ? 987_654 : 'nowhere-00000001';
    const refused = await refusal(operation, { ...values, [name]: unknown });
    assert.equal(refused.code, notFound[kind], refused.message);
    assert.ok(refused.message.includes(String(unknown)), refused.message);
  });
}

test('what measures a drive says which controller is not there', async () => {
  for (const id of ['drives.iops', 'drives.latency', 'drives.throughput'].filter((one) =>
    objectsOperations.some((operation) => operation.id === one),
  )) {
    const operation = operationOf(id);
    const values = await validValues(operation, walk, admin);
    const refused = await refusal(operation, { ...values, vc: 'vsa-00000001-vc-99' });
    assert.equal(refused.code, 50006, refused.message);
  }
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Operation, Param } from '@granary/contract';
import type { Values } from '../../kernel/http/testing/encodings.ts';
import { selfSigned } from '../../kernel/tls/self-signed.ts';
import { PASSWORD, type Person } from './test-objects.ts';
import type { Walk } from './walk.ts';

/** What an operation needs to be there before a call of it can succeed: returns parameters that name it. */
type Prepare = (walk: Walk, caller: Person) => Values | Promise<Values>;

const nothing: Prepare = () => ({});
const page: Prepare = () => ({ start: 0, limit: 10 });
const home: Prepare = (walk) => ({ account_id: walk.home });
const SPARE_TYPE = 'SPARE_10GB';

const freshAccount = (walk: Walk) => walk.objects.account(walk.name('account'));

const disabledAccount: Prepare = async (walk) => {
  const account_id = await freshAccount(walk);
  await walk.client.call(walk.api.accounts.disable, { account_id });
  return { account_id };
};

const deletedAccount: Prepare = async (walk) => {
  const account_id = await freshAccount(walk);
  await walk.client.call(walk.api.accounts.delete, { account_id, force: true, timeout: -1 });
  return { account_id, timeout: 60 };
};

const registration = (walk: Walk) => ({
  request_action: 'register_account' as const,
  arguments: { username: 'kim', account: walk.name('wanted'), email: 'kim@example.org', password: PASSWORD },
});

const newRequest: Prepare = async (walk) => {
  const { request_id } = await walk.client.call(walk.api.requests.create, registration(walk));
  return { id: request_id };
};

/** A member of the home account that has no password yet; `code` sets it. */
async function newUser(walk: Walk): Promise<{ readonly username: string; readonly id: string; readonly code: string }> {
  const { client, api, home: account_id } = walk;
  const username = walk.name('user');
  const email = `${username}@example.org`;
  const { code } = await client.call(api.users.create, { username, email, account_id, role: 'member' });
  const { users } = await client.call(api.accounts.listUsers, { account_id });
  const { id } = users.find(({ name }) => name === username) as { id: string };
  return { username, id, code };
}

const freshUser =
  (key: string): Prepare =>
  async (walk) => ({ [key]: (await newUser(walk)).id });

const disabledUser: Prepare = async (walk) => {
  const { id: user_id } = await newUser(walk);
  await walk.client.call(walk.api.users.disable, { user_id });
  return { user_id };
};

/** One that signs in, for what changes how they do. */
const person: Prepare = async (walk) => {
  const { username } = await walk.objects.user(walk.home, walk.name('person'));
  return { account: walk.home, user: username, password: PASSWORD };
};

const controller = ({ objects }: Walk) => `${objects.configuration.internalName}-vc-0`;

/** Controllers that only pass requests on are ordered; this orders one. */
const withProxy: Prepare = async ({ objects, client, api }) => {
  const { vcs } = await client.call(api.virtualControllers.list, {});
  const { proxyZones } = objects.configuration;
  if (!vcs.some(({ role }) => role === 'proxy')) await objects.change({ proxyZones: [...proxyZones, 'zone_0'] });
  return { quantity: 1, timeout: 60 };
};

const withSpareDrive: Prepare = async (walk) => {
  const { drives } = walk.objects.configuration;
  if (!drives.some(({ type }) => type === SPARE_TYPE)) {
    const number = Math.max(...drives.map((drive) => drive.number)) + 1 + walk.objects.returned.length;
    await walk.objects.addDrive(number, { type: SPARE_TYPE });
  }
  return { name: 'policy-00000001', drives: JSON.stringify([{ type: SPARE_TYPE, quantity: 1 }]), timeout: 60 };
};

/** Nothing is posted to it: no event is so severe. */
const newWebhook = async (walk: Walk) => {
  const { client, api } = walk;
  // Their number is limited.
  const { webhooks } = await client.call(api.webhooks.list, { start: 5 });
  for (const { id } of webhooks) await client.call(api.webhooks.delete, { id });
  return { name: walk.name('hook'), target_url: 'http://127.0.0.1:9/hooks', severity: 0 };
};

const webhook: Prepare = async (walk) => {
  const { webhook: made } = await walk.client.call(walk.api.webhooks.create, await newWebhook(walk));
  return { id: made.id };
};

const policy: Prepare = () => ({ name: 'policy-00000001' });

const withEncryptionPassword: Prepare = async (walk) => {
  await walk.kept('encryption password', async () =>
    walk.client.call(walk.api.settings.setEncryptionPassword, { encryption_pwd: PASSWORD }),
  );
  return {};
};

const NAME_SERVERS = { custom_name_servers: '192.0.2.53,192.0.2.54', dns_lookup_domain: 'corp.example.org' };

const certificate: Prepare = () => {
  const { key, cert } = selfSigned('objects.example.org', [], Date.now());
  return { ssl_pem: `${key}${cert}` };
};

/** The three operations of what is measured. */
function metered(of: string, prepare: Prepare): Record<string, Prepare> {
  const all: Prepare = async (walk, caller) => ({ ...(await prepare(walk, caller)), interval: 60, count: 2 });
  return { [`${of}.iops`]: all, [`${of}.latency`]: all, [`${of}.throughput`]: all };
}

const ofProxy = { service: 'proxy' };
const ofObjects = { ...ofProxy, subserver: 'object' };

/** Where any bucket answers to any key. */
const remote = (walk: Walk) =>
  walk.kept('remote', async () => {
    const server = createServer((_, reply) => reply.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    walk.t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

const newDestination = async (walk: Walk) => ({
  name: walk.name('offsite'),
  type: 'OBJS_S3' as const,
  endpoint_url: await remote(walk),
  region: 'us-east-1',
  username: 'GRANARYEXAMPLEKEY',
  password: 'remote-secret',
  connectVia: 'fe' as const,
});

/** Its external name. */
async function destination(walk: Walk): Promise<string> {
  const made = await newDestination(walk);
  const { client, api } = walk;
  await client.call(api.destinations.create, made);
  const { container_replication_targets: all } = await client.call(api.destinations.list, {});
  return all.find(({ display_name: name }) => name === made.name)?.ext_name ?? '';
}

const keptDestination = (walk: Walk) => walk.kept('destination', () => destination(walk));

/** One for each operation; the tests that walk them fail by name for one that is missing. */
export const preparations: Readonly<Record<string, Prepare>> = {
  'accounts.list': () => ({ start: 0, limit: 10, filter_field: 'name', filter_value: 'web' }),
  'accounts.get': home,
  'accounts.listUsers': home,
  'accounts.create': (walk) => ({ name: walk.name('account') }),
  'accounts.delete': async (walk) => ({ account_id: await freshAccount(walk), force: 'YES', timeout: 60 }),
  'accounts.cleanUp': deletedAccount,
  'accounts.disable': async (walk) => ({ account_id: await freshAccount(walk) }),
  'accounts.enable': disabledAccount,
  'accounts.export': nothing,
  'accounts.getRateLimit': home,
  'accounts.setDescription': (walk) => ({ account_id: walk.home, description: 'Pictures' }),
  'accounts.setRateLimit': (walk) => ({ account_id: walk.home, enabled: true, rate_limit: 0 }),
  'accounts.capacity': (walk) => ({ id: walk.home }),
  ...metered('accounts', (walk) => ({ id: walk.home, ...ofObjects })),

  'requests.list': async (walk, caller) => {
    await newRequest(walk, caller);
    return { state: 'pending', limit: 10, page: 1 };
  },
  'requests.create': registration,
  'requests.approve': newRequest,
  'requests.deny': newRequest,

  'users.list': page,
  'users.get': (walk) => ({ id: walk.people.member.id }),
  'users.create': (walk) => ({
    username: walk.name('user'),
    email: 'new@example.org',
    account_id: walk.home,
    notify_on_events: 'NO',
    role: 'member',
  }),
  'users.delete': freshUser('id'),
  'users.enable': disabledUser,
  'users.disable': freshUser('user_id'),
  'users.changeRole': async (walk) => ({ user_id: (await newUser(walk)).id, role: 'account_admin' }),
  'users.presign': () => ({ bucket: 'pages', key: 'index.html', method: 'GET', expires: 60 }),
  'users.resetS3Secret': async (walk) => ({ username: (await newUser(walk)).username, account: walk.home }),
  'sessions.create': (_, { accountName: account, username, password }) => ({ account, username, password }),
  'sessions.getCurrent': nothing,
  'sessions.deleteCurrent': nothing,
  'sessions.list': () => ({ start: 0, limit: 10 }),
  'sessions.delete': async ({ client, api }, { accountName: account, username, password }) => {
    const { session } = await client.call(api.sessions.create, { account, username, password });
    return { id: session.id };
  },
  'settings.getSessions': nothing,
  'settings.setSessions': nothing,
  'users.authenticate': (_, { accountName, username, password }) => ({
    account: accountName,
    user: username,
    password,
  }),
  'users.resetToken': person,
  'users.changePassword': async (walk, caller) => ({ ...(await person(walk, caller)), new_password: 'Pick-An0ther' }),
  'users.usePasswordCode': async (walk) => {
    const { username, code } = await newUser(walk);
    return { username, account: walk.home, code, new_password: PASSWORD };
  },
  'users.resetPassword': async (walk) => ({ account: walk.home, username: (await newUser(walk)).username }),
  'users.enableAdminAccess': nothing,
  'users.disableAdminAccess': nothing,
  ...metered('users', (walk) => ({ id: walk.people.member.id, ...ofObjects })),

  'roles.list': nothing,

  'drives.list': page,
  'drives.get': async ({ client, api }) => ({ name: (await client.call(api.drives.list, {})).disks[0]?.name }),
  ...metered('drives', async ({ client, api }) => {
    const [drive] = (await client.call(api.drives.list, {})).disks;
    return { id: drive?.name, service: 'disk', vc: drive?.vc };
  }),

  'virtualControllers.list': page,
  'virtualControllers.get': () => ({ 'vc-index': '0', start: 0, limit: 10 }),
  'virtualControllers.listDrives': (walk) => ({ 'vc-index': controller(walk) }),
  'virtualControllers.removeProxies': withProxy,
  ...metered('virtualControllers', (walk) => ({ id: controller(walk), ...ofProxy })),

  'loadBalancerGroups.list': page,
  'loadBalancerGroups.get': () => ({ name: 'lbg-1' }),
  ...metered('loadBalancerGroups', () => ({ id: 'lbg-1', ...ofProxy })),

  'policies.list': page,
  'policies.get': policy,
  'policies.update': () => ({
    name: 'policy-00000001',
    full_description: 'Two copies, for hot data',
    gb_per_month_cost: '0.02',
    timeout: 60,
  }),
  'policies.setDefault': policy,
  'policies.removeDrives': withSpareDrive,
  'policies.capacity': () => ({ id: 'policy-00000001' }),
  ...metered('policies', () => ({ id: 'policy-00000001', ...ofProxy })),

  'destinations.list': async (walk) => {
    await keptDestination(walk);
    return {};
  },
  'destinations.get': async (walk) => ({ 'target-ext-name': await keptDestination(walk) }),
  'destinations.create': newDestination,
  'destinations.update': async (walk) => ({
    'ext-name': await keptDestination(walk),
    type: 'OBJS_S3',
    name: walk.name('offsite'),
    region_name: 'eu-west-1',
    username: 'GRANARYEXAMPLEKEY',
    password: 'remote-secret',
    connectVia: 'fe',
  }),
  'destinations.listGrants': async (walk) => {
    const name = await keptDestination(walk);
    await walk.client.call(walk.api.destinations.grant, { 'ext-name': name, account_id: walk.home });
    return { 'ext-name': name };
  },
  'destinations.listGranted': home,
  'destinations.grant': async (walk) => ({
    'ext-name': await keptDestination(walk),
    account_id: walk.home,
    own_prefix: 'YES',
  }),
  'destinations.revoke': async (walk) => {
    const name = await destination(walk);
    await walk.client.call(walk.api.destinations.grant, { 'ext-name': name, account_id: walk.home });
    return { 'ext-name': name, account_id: walk.home };
  },
  'destinations.delete': async (walk) => ({ 'ext-name': await destination(walk), force: 'NO' }),

  'usageReports.generate': (walk) => ({
    report_time: 'custom',
    report_type: 'detailed',
    fromdate: '2026-01-01',
    todate: '2026-01-31',
    account_id: walk.home,
  }),

  'changes.watch': () => ({ seconds: 0 }),
  'forecasts.list': () => ({ start: 0, limit: 10 }),
  'search.find': () => ({ q: 'web', limit: 10 }),
  'messages.list': () => ({ severity: 6, attr_key: 'account', attr_value: 'webhosting', start: 0, limit: 10 }),
  'accessLogs.list': () => ({
    limit: 10,
    page: 1,
    kinds: ['data', 'changes'],
    sort: JSON.stringify([{ property: 'created', direction: 'DESC' }]),
  }),

  'settings.get': async (walk) => {
    await walk.client.call(walk.api.settings.setDnsServers, NAME_SERVERS);
    return {};
  },
  'settings.getMetricsToken': nothing,
  'settings.createMetricsToken': nothing,
  'settings.deleteMetricsToken': nothing,
  'webhooks.list': async (walk, caller) => {
    await webhook(walk, caller);
    return { start: 0, limit: 10 };
  },
  'webhooks.create': newWebhook,
  'webhooks.get': webhook,
  'webhooks.update': webhook,
  'webhooks.delete': webhook,
  'webhooks.test': webhook,
  'settings.setSslTermination': () => ({ ssltermination: 'off' }),
  'settings.setSslCertificate': certificate,
  'settings.getSslCertificate': nothing,
  'settings.setBillingCurrency': () => ({ billing_unit: 'eur' }),
  'settings.setTransferPrices': () => ({ upload_rate_per_gb: '0.01', download_rate_per_gb: '0.05' }),
  'settings.setApiIp': nothing,
  'settings.setApiHostname': nothing,
  'settings.setPublicApiHostname': nothing,
  'settings.setEncryptionPassword': async (walk, caller) => {
    await withEncryptionPassword(walk, caller);
    return { encryption_pwd: PASSWORD };
  },
  'settings.activateEncryption': withEncryptionPassword,
  'settings.disableEncryption': withEncryptionPassword,
  'settings.restoreEncryption': async (walk, caller) => {
    await withEncryptionPassword(walk, caller);
    return { encryption_pwd: PASSWORD };
  },
  'settings.getNotificationHosts': nothing,
  'settings.setNotificationHosts': nothing,
  'settings.setRegion': nothing,
  'settings.setTenantNameInUrl': nothing,
  'settings.setVirtualHostedStyle': nothing,
  'settings.setApiErrorAlerts': () => ({ enabled: true, threshold: 1000 }),
  'settings.setTokenExpiry': nothing,
  'settings.setMtu': () => ({ fe_mtu: 1500, public_mtu: 1500, force: 'NO' }),
  'settings.setPolicyExpansion': nothing,
  'settings.setLoadBalancerMode': nothing,
  'settings.setDnsServers': () => ({ ...NAME_SERVERS }),
  'settings.setRateLimit': () => ({ enabled: 'NO', global_rate_limit: 100 }),
  'settings.setPasswordRules': () => ({
    expire_password: 'NO',
    expire_password_after: 7_776_000,
    password_history: 0,
  }),
  'settings.setMailServer': () => ({ smtp_host: '' }),
};

/** Those that are refused however they are asked for, with the code they are refused with. */
export const alwaysRefused: ReadonlyMap<string, number> = new Map([['settings.setMtu', 50100]]);

/** The parameters of a call that succeeds: what was prepared, over the examples of what is required. */
export async function validValues(operation: Operation, walk: Walk, caller: Person): Promise<Values> {
  const prepare = preparations[operation.id];
  if (!prepare) throw new Error(`${operation.id} has no entry in objects/testing/valid-requests.ts; add one`);
  const required = Object.entries(operation.endpoint.params).filter(([, param]) => param.presence === 'required');
  const examples = Object.fromEntries(required.map(([name, param]: [string, Param]) => [name, param.example]));
  return { ...examples, ...(await prepare(walk, caller)) };
}

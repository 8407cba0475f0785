import { operations, type Operation, type Param } from '@granary/contract';
import { portalApi } from '@granary/contract/portal';
import { parseJoinCode } from '@granary/kernel';
import { codeOfStep, stepAt } from '../totp/code.ts';
import { deleteFactor, insertFactor } from '../totp/repository.ts';
import { startFakeCloud, testInventory } from './fake-cloud.ts';
import { startFakeObjects } from './fake-objects.ts';
import { startJoiningCloud } from './joining-cloud.ts';
import type { Person, TestPortal } from './portal.ts';

type Values = Readonly<Record<string, unknown>>;

/** What an operation needs to be there before a call of it can succeed: returns parameters that name it. */
type Prepare = (portal: TestPortal, caller: Person) => Values | Promise<Values>;

const nothing: Prepare = () => ({});

const ownersArray: Prepare = async ({ array, owner, kept }) => ({
  array_id: (await kept('array', () => array(owner))).id,
});
const ownersNewArray: Prepare = async ({ array, owner }) => ({ array_id: (await array(owner)).id });
const ownersObjectArray: Prepare = async ({ objectArray, owner, kept }) => ({
  array_id: (await kept('object array', () => objectArray(owner))).id,
});

/** An object array of the owner's whose management answers. */
async function servedArray(portal: TestPortal): Promise<number> {
  const objects = await portal.kept('objects', async () => {
    const fake = await startFakeObjects();
    portal.onStop(() => fake.stop());
    return fake;
  });
  portal.cloud.managementUrl = objects.url;
  try {
    return (await portal.objectArray(portal.owner)).id;
  } finally {
    portal.cloud.managementUrl = undefined;
  }
}

const ownersReachedArray: Prepare = async (portal) => ({
  array_id: await portal.kept('reached array', () => servedArray(portal)),
});

const ownersPublicService: Prepare = async (portal) => {
  const id = await servedArray(portal);
  const account_name = portal.name('public');
  await portal.owner.client.publicObjects.create({ ...publicService, array_id: id, account_name });
  return { array_id: id, account_name };
};

const publicService = {
  account_name: 'public',
  admin_username: 'carol',
  admin_password: 'correct horse battery',
  ip: '127.0.0.1:8080',
  host: 'objects.example.org',
};

/** Nothing is posted to it: no event is so severe. */
const newWebhook: Prepare = async (portal) => {
  const { webhooks } = portal.admin.client;
  // Their number is limited.
  for (const { id } of (await webhooks.list({ start: 5 })).webhooks) await webhooks.delete({ id });
  return { name: portal.name('hook'), target_url: 'http://127.0.0.1:9/hooks', severity: 0 };
};

const webhook: Prepare = async (portal, caller) => {
  const wanted = (await newWebhook(portal, caller)) as { name: string; target_url: string; severity: number };
  return { id: (await portal.admin.client.webhooks.create(wanted)).webhook.id };
};

/** An account that waits for approval: the portal keeps it, whether or not the array serves accounts. */
const ownersAccount: Prepare = async (portal) => {
  const { owner, name } = portal;
  const { array_id: arrayId } = (await ownersObjectArray(portal, owner)) as { array_id: number };
  const { data } = await owner.client.objectAccounts.create({
    array_id: arrayId,
    object_storage_account_name: name('account'),
    object_storage_admin_username: 'carol',
    object_storage_admin_password: 'correct horse battery',
    user_id: owner.id,
    moderate: true,
  });
  return { array_id: arrayId, account_id: data.id };
};

/** An array of the owner's that can be undeleted. */
const ownersDeletedArray: Prepare = async (portal) => {
  const { id } = await portal.array(portal.owner);
  const keep = (hours: number) => portal.admin.client.settings.setArrayRetention({ retention_hours: hours });
  await keep(24);
  await portal.admin.client.arrays.delete({ array_id: id });
  await keep(0);
  await portal.until(id, 'deleted');
  return { array_id: id };
};

/** The people of these tests order one array after the other. */
const ample = { cores: 100_000, ram: 1_000_000, instances: 100_000 };

/** A compute account of the owner's with nothing in it. */
const ownersCompute: Prepare = async ({ owner, admin, name }) => {
  const display_name = name('farm');
  await owner.client.computes.create({ provider_id: 1, display_name, ...ample });
  const { data } = await owner.client.arrayRequests.list({ status: 'pending' });
  const request = data.find((one) => one.name === display_name)!;
  await admin.client.arrayRequests.approve({ id: request.id, name: display_name });
  const made = (await owner.client.computes.list()).data.find((one) => one.display_name === display_name)!;
  return { id: made.id };
};

/** The owner's order of a new array, which waits for an administrator. */
const ownersRequest: Prepare = async ({ owner, name }) => {
  const array = name('wanted');
  await owner.client.arrays.create({
    name: array,
    moderate: true,
    provider: 'local',
    engine: 'engine_small',
    drives: { SSD_10GB: 2 },
  });
  const { data } = await owner.client.arrayRequests.list({ status: 'pending' });
  return { id: data.find((request) => request.name === array)?.id, name: array };
};

const newUser: Prepare = async ({ admin, name }) => {
  const user = { username: name('user'), password: 'correct horse battery' };
  return { id: (await admin.client.users.create(user)).data.id };
};

const newProvider = async ({ admin, name }: TestPortal): Promise<number> => {
  const provider = { name: name('provider'), key: name('provider-key'), cloud_id: 1 };
  return (await admin.client.providers.create(provider)).data.provider_id;
};

const newGroup: Prepare = async ({ admin, name }) => ({
  id: (await admin.client.providerGroups.create({ name: name('group') })).data.provider_group_id,
});

const freeVlan = async ({ admin }: TestPortal): Promise<number> => {
  const { data } = await admin.client.vlans.listAvailable({ provider_id: 1 });
  return data.at(-1) as number;
};

const allocatedVlan: Prepare = async (portal) => {
  const vlan = await freeVlan(portal);
  await portal.admin.client.vlans.allocate({ provider_id: 1, vlan });
  return { provider_id: 1, vlan };
};

const secondCloud = async (portal: TestPortal) => {
  const cloud = await portal.kept('second cloud', async () => {
    const uuid = testInventory.uuid.replace(/c10d$/, 'c10e');
    const started = await startFakeCloud({ uuid, adminKey: 'second-cloud-key' });
    portal.onStop(() => started.stop());
    return started;
  });
  return { ip: cloud.address, admin_user: cloud.adminUser, admin_key: cloud.adminKey };
};

/** The second cloud, forgotten by the portal again if an earlier call registered it. */
const unregisteredCloud = async (portal: TestPortal) => {
  const place = await secondCloud(portal);
  const { data } = await portal.admin.client.clouds.list();
  const known = data.find(({ uuid }) => uuid.endsWith('c10e'));
  if (known) await portal.admin.client.clouds.delete({ id: Number(known.id) });
  return place;
};

const registeredCloud = async (portal: TestPortal): Promise<Values> => {
  const place = await unregisteredCloud(portal);
  const registration = { name: portal.name('cloud'), ...place };
  const { data } = await portal.admin.client.clouds.create(registration);
  return { id: data.cloud_id, ...registration };
};

/** A cloud that can join by a code, forgotten by the portal again if an earlier call let it join. */
const joiningCloud: Prepare = async (portal) => {
  const { admin, kept, onStop, name } = portal;
  const uuid = testInventory.uuid.replace(/c10d$/, 'c10f');
  const joining = await kept('joining cloud', async () => {
    const started = await startJoiningCloud({ uuid });
    onStop(() => started.cloud.stop());
    return started;
  });
  const known = (await admin.client.clouds.list()).data.find((one) => one.uuid === uuid);
  if (known) await admin.client.clouds.delete({ id: Number(known.id) });
  const { code } = (await admin.client.clouds.joinCode({ name: name('cloud') })).data;
  return { ...joining.request(parseJoinCode(code)?.secret ?? '') };
};

/** Of a user who signs in without a code. */
const credentials: Prepare = async ({ admin, name }) => {
  const user = { username: name('user'), password: 'correct horse battery' };
  await admin.client.users.create(user);
  return user;
};

const session: Prepare = async ({ services, owner }) => {
  const begun = { user: `user:${owner.id}`, ip: '127.0.0.1', userAgent: undefined };
  return { id: (await services.sessions.begin(begun, () => undefined)).session.id };
};

const withoutTotp: Prepare = async ({ store }, { id }) => {
  await store.write((tx) => deleteFactor(tx, id));
  return {};
};

/** The app of the caller has a secret; the code is of the present. */
const totpStarted = async (portal: TestPortal, caller: Person) => {
  await withoutTotp(portal, caller);
  const { secret } = (await caller.client.me.startTotp({ current_password: caller.password })).data;
  const code = (step: number) => codeOfStep(secret, stepAt(portal.tools.clock.now()) + step);
  return { code: code(0), next: code(1) };
};

/** One for each operation of the contract; the tests that walk the contract fail by name for one that is missing. */
export const preparations: Readonly<Record<string, Prepare>> = {
  'tokens.get': credentials,
  'tokens.reset': credentials,
  'sessions.create': credentials,
  'sessions.getCurrent': nothing,
  'sessions.deleteCurrent': nothing,
  'sessions.list': nothing,
  'sessions.delete': session,
  'me.get': nothing,
  'me.update': () => ({ email: 'ann@example.org' }),
  'me.startTotp': async (portal, caller) => {
    await withoutTotp(portal, caller);
    return { current_password: caller.password };
  },
  'me.confirmTotp': async (portal, caller) => ({ code: (await totpStarted(portal, caller)).code }),
  'me.removeTotp': async (portal, caller) => {
    const { code, next } = await totpStarted(portal, caller);
    await caller.client.me.confirmTotp({ code });
    return { code: next };
  },
  'users.list': nothing,
  'users.get': newUser,
  'users.create': ({ name }) => ({ username: name('user') }),
  'users.update': async (portal, caller) => ({ ...(await newUser(portal, caller)), email: 'ann@example.org' }),
  'users.disable': newUser,
  'users.enable': newUser,
  'users.revokeTokens': newUser,
  'users.removeTotp': async (portal, caller) => {
    const { id } = (await newUser(portal, caller)) as { id: number };
    const secretSealed = portal.tools.vault.seal('secret');
    await portal.store.write((tx) =>
      insertFactor(tx, { userId: id, secretSealed, confirmedAt: 1, lastStep: 0, recoveryMarks: [] }),
    );
    return { id };
  },
  'users.delete': newUser,
  'clouds.list': nothing,
  'clouds.get': () => ({ id: 1 }),
  'clouds.create': async (portal) => ({ name: portal.name('cloud'), ...(await unregisteredCloud(portal)) }),
  'clouds.update': registeredCloud,
  'clouds.adopt': () => ({ id: 1 }),
  'clouds.recoverArrays': () => ({ id: 1 }),
  'clouds.joinCode': ({ name }) => ({ name: name('cloud') }),
  'clouds.join': joiningCloud,
  'clouds.authority': nothing,
  'clouds.delete': registeredCloud,
  'driveTypes.list': () => ({ id: 1 }),
  'driveTypes.get': () => ({ cloud_id: 1, drive_type_id: 1 }),
  'driveTypes.update': () => ({ cloud_id: 1, drive_type_id: 1, name: 'Small flash', display_capacity: 9 }),
  'providers.list': nothing,
  'providers.get': () => ({ id: 1 }),
  'providers.create': ({ name }) => ({ name: name('provider'), key: name('provider-key'), cloud_id: 1 }),
  'providers.update': async (portal) => ({ id: await newProvider(portal), name: portal.name('provider') }),
  'providers.delete': async (portal) => ({ id: await newProvider(portal) }),
  'providers.setFlavorPrice': () => ({ provider_id: 1 }),
  'providerGroups.list': nothing,
  'providerGroups.get': newGroup,
  'providerGroups.create': ({ name }) => ({ name: name('group') }),
  'providerGroups.update': async (portal, caller) => ({
    ...(await newGroup(portal, caller)),
    name: portal.name('group'),
  }),
  'providerGroups.delete': newGroup,
  'pricing.get': nothing,
  'pricing.list': () => ({ provider_id: 1 }),
  'pricing.set': () => ({ provider_id: 1, kind: 'drive', key: 'SSD_10GB', from: '2099-01-01 00:00' }),
  'pricing.cancel': async (portal) => {
    const wanted = { provider_id: 1, kind: 'cache_gb' } as const;
    await portal.admin.client.pricing.set({ ...wanted, price: '9', from: '2099-01-01 00:00' });
    return { ...wanted, key: 'cache_gb' };
  },
  'pricing.upload': () => ({
    provider_ids: [1],
    file: { filename: 'prices.csv', bytes: Buffer.from('kind,key,hourly_price_usd\nengine,engine_small,0.11\n') },
  }),
  'arrays.list': nothing,
  'arrays.get': ownersArray,
  'arrays.create': ({ name }) => ({ name: name('tank'), engine: 'engine_small' }),
  'arrays.setEngine': ownersArray,
  'arrays.setCache': ownersArray,
  'arrays.addDrives': ownersNewArray,
  'arrays.hibernate': ownersNewArray,
  'arrays.restore': async (portal, caller) => {
    const values = (await ownersNewArray(portal, caller)) as { array_id: number };
    await portal.owner.client.arrays.hibernate(values);
    await portal.until(values.array_id, 'hibernated');
    return values;
  },
  'arrays.addStoragePolicy': async (portal, caller) => ({
    ...(await ownersObjectArray(portal, caller)),
    name: portal.name('policy'),
    drives: { HDD_1000GB: 2 },
  }),
  'arrays.addProxyController': ownersObjectArray,
  'arrays.addPublicIp': ownersNewArray,
  'arrays.removePublicIp': async (portal, caller) => {
    const values = (await ownersNewArray(portal, caller)) as { array_id: number };
    await portal.owner.client.arrays.addPublicIp(values);
    return values;
  },
  'arrays.listCompatibleInterfaces': ownersArray,
  'arrays.getContents': ownersArray,
  'arrays.getIdentity': ownersReachedArray,
  'arrays.undelete': ownersDeletedArray,
  'arrays.purge': ownersDeletedArray,
  'arrays.addInterface': async (portal, caller) => ({
    ...(await ownersArray(portal, caller)),
    virtual_network_id: await portal.network(portal.owner),
  }),
  'arrays.removeInterface': async (portal, caller) => {
    const { array_id: id } = (await ownersArray(portal, caller)) as { array_id: number };
    const networkId = await portal.network(portal.owner);
    await portal.admin.client.arrays.addInterface({ array_id: id, virtual_network_id: networkId });
    const { data } = await portal.owner.client.arrays.get({ array_id: id });
    const joined = data.virtual_network_interfaces.find((one) => one.virtual_network_id === networkId);
    return { array_id: id, vni_ids: [joined?.id] };
  },
  'arrays.enableDataReduction': ownersArray,
  'arrays.disableDataReduction': ownersArray,
  'arrays.enableFileLifecycle': ownersArray,
  'arrays.lockDown': ownersNewArray,
  'arrays.release': ownersNewArray,
  'arrays.delete': ownersNewArray,
  'arrayRequests.list': nothing,
  'arrayRequests.get': ownersRequest,
  'arrayRequests.approve': ownersRequest,
  'arrayRequests.deny': ownersRequest,
  'arrayRequests.withdraw': ownersRequest,
  'arrayRequests.delete': ownersRequest,
  'publicObjects.create': async (portal) => ({
    array_id: await servedArray(portal),
    account_name: portal.name('public'),
  }),
  'publicObjects.update': async (portal, caller) => ({
    ...(await ownersPublicService(portal, caller)),
    host: 'other.example.org',
  }),
  'publicObjects.get': ownersPublicService,
  'publicObjects.delete': ownersPublicService,
  // With moderate the portal keeps the account itself; without, it asks the array, which need not serve accounts.
  'objectAccounts.create': async (portal, caller) => ({
    ...(await ownersObjectArray(portal, caller)),
    object_storage_account_name: portal.name('account'),
    user_id: portal.owner.id,
    moderate: true,
  }),
  'objectAccounts.get': ownersAccount,
  'objectAccounts.list': ownersObjectArray,
  'objectAccounts.listAll': nothing,
  'objectAccounts.delete': ownersAccount,
  'computes.list': nothing,
  'computes.get': ownersCompute,
  'computes.delete': ownersCompute,
  'computes.create': ({ name }) => ({ provider_id: 1, display_name: name('farm'), ...ample }),
  'tenants.list': nothing,
  'vlans.list': nothing,
  'vlans.listAvailable': () => ({ provider_id: 1 }),
  'vlans.allocate': async (portal) => ({ provider_id: 1, vlan: await freeVlan(portal) }),
  'vlans.deallocate': allocatedVlan,
  'vlans.setDefault': allocatedVlan,
  'virtualNetworks.list': nothing,
  'virtualNetworks.create': async ({ name, tenantOf }, caller) => ({
    name: name('network'),
    provider_id: 1,
    tenant_id: await tenantOf(caller),
  }),
  'virtualNetworks.delete': async ({ network, owner }) => {
    const id = await network(owner);
    const { data } = await owner.client.virtualNetworks.list();
    return { id, provider_id: 1, vlan: data.find((one) => one.id === id)?.vlan_id };
  },
  'billing.download': nothing,
  'billing.summary': nothing,
  'changes.watch': () => ({ seconds: 0 }),
  'overview.get': nothing,
  'forecasts.list': nothing,
  'search.find': nothing,
  'events.list': nothing,
  'settings.getLogLevel': nothing,
  'settings.setLogLevel': nothing,
  'settings.getArrayRetention': nothing,
  'settings.setArrayRetention': nothing,
  'settings.getNetworksPerUser': nothing,
  'settings.setNetworksPerUser': nothing,
  'settings.getSessions': nothing,
  'settings.setSessions': nothing,
  'settings.getMail': nothing,
  'settings.setMail': () => ({ smtp_port: 25, notice_severity: 3 }),
  'settings.getMetricsToken': nothing,
  'settings.createMetricsToken': nothing,
  'settings.deleteMetricsToken': nothing,
  'webhooks.list': nothing,
  'webhooks.create': newWebhook,
  'webhooks.get': webhook,
  'webhooks.update': webhook,
  'webhooks.delete': webhook,
  'webhooks.test': webhook,
};

/** Every operation of the portal's contract. */
export const portalOperations: readonly Operation[] = operations(portalApi);

/** The parameters of a call that succeeds: what was prepared, over the examples of what is required. */
export async function validValues(operation: Operation, portal: TestPortal, caller: Person): Promise<Values> {
  const prepare = preparations[operation.id];
  if (!prepare) throw new Error(`${operation.id} has no entry in portal/testing/valid-requests.ts; add one`);
  const required = Object.entries(operation.endpoint.params).filter(([, param]) => param.presence === 'required');
  const examples = Object.fromEntries(required.map(([name, param]: [string, Param]) => [name, param.example]));
  return { ...examples, ...(await prepare(portal, caller)) };
}

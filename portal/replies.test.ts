import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { replySchema, type Operation } from '@granary/contract';
import { Check, Errors } from 'typebox/value';
import { askedOf, usualEncoding, type Asked } from '../kernel/http/testing/encodings.ts';
import { startFakeObjects } from './testing/fake-objects.ts';
import { startTestPortal, type Answered } from './testing/portal.ts';
import { portalOperations, validValues } from './testing/valid-requests.ts';

/**
 * Goal: replies are what the specification shows, field by field and type by type.
 * Method: every operation is called with success and its whole reply held against the contract's schema, with no
 * field too many; the records of the specification are compared with tables written out here, so that a change of
 * the contract does not change what they are compared with.
 */
const portal = await startTestPortal();
after(() => portal.stop());

const { admin, owner } = portal;

async function answer(operation: Operation, accept = 'application/json'): Promise<Answered> {
  const values = await validValues(operation, portal, admin);
  const asked = askedOf(operation, values, usualEncoding(operation));
  return portal.send(admin, { ...asked, headers: { ...asked.headers, accept } });
}

/** Where `status` is not the text `success`, as the specification has it. */
const oddities: readonly (readonly [string, string, unknown])[] = [
  ['driveTypes.update', 'the number 201', 201],
  ['arrays.addInterface', 'the number 0', 0],
  ['arrays.removeInterface', 'the number 0', 0],
  ['publicObjects.create', 'Success', 'Success'],
  ['publicObjects.update', 'the number 200', 200],
  ['publicObjects.get', 'Success', 'Success'],
  ['publicObjects.delete', 'Success', 'Success'],
  ['objectAccounts.create', 'Success', 'Success'],
  ['objectAccounts.get', 'Success', 'Success'],
  ['objectAccounts.list', 'Success', 'Success'],
  ['objectAccounts.listAll', 'Success', 'Success'],
  ['objectAccounts.delete', 'Success', 'Success'],
  ['arrays.create', 'no status', undefined],
  ['settings.getLogLevel', 'no status', undefined],
];

for (const operation of portalOperations) {
  const { reply } = operation.endpoint;
  if (reply.kind === 'file') continue;
  const [, wording, expected] = oddities.find(([id]) => id === operation.id) ?? ['', 'success', 'success'];
  test(`${operation.id} replies with ${wording}, as its schema says, and without a field too many`, async () => {
    const { status, headers, json, text } = await answer(operation);
    assert.equal(status, 200, text);
    assert.match(String(headers['content-type']), /^application\/json/);
    assert.deepEqual(json()['status'], expected);
    assert.equal('status' in json(), expected !== undefined);
    const schema = { ...replySchema(reply), additionalProperties: false };
    assert.ok(Check(schema, json()), JSON.stringify({ errors: Errors(schema, json()), reply: json() }, null, 1));
  });
}

for (const operation of portalOperations) {
  if (operation.endpoint.reply.kind === 'file') continue;
  test(`${operation.id} replies in XML under the root hash`, async () => {
    const { status, headers, text } = await answer(operation, 'application/xml');
    assert.equal(status, 200, text);
    assert.match(String(headers['content-type']), /^application\/xml/);
    assert.match(text, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<hash>.*<\/hash>\n$/s);
  });
}

test('the bill is a zip file to be saved, whatever format is asked for', async () => {
  const operation = portalOperations.find(({ id }) => id === 'billing.download') as Operation;
  const { status, headers, text } = await answer(operation, 'application/xml');
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'application/zip');
  assert.match(String(headers['content-disposition']), /^attachment; filename="[\w.-]+\.zip"$/);
  assert.ok(text.startsWith('PK'));
});

/** `str`, `int`, `num`, `bool` or `null`, several with `|`; a constant as itself in quotes; lists and records nest. */
type Form = string | readonly [] | readonly [Form] | { readonly [field: string]: Form } | MapOf;
class MapOf {
  readonly value: Form;
  constructor(value: Form) {
    this.value = value;
  }
}

function assertForm(value: unknown, form: Form, place: string): void {
  if (typeof form === 'string') {
    assert.ok(
      form.split('|').some((name) => isOf(name, value)),
      `${place} is ${JSON.stringify(value)}, not ${form}`,
    );
  } else if (form instanceof MapOf) {
    assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${place} is no map`);
    assert.notEqual(Object.keys(value).length, 0, `${place} shows nothing`);
    for (const [key, one] of Object.entries(value)) assertForm(one, form.value, `${place}.${key}`);
  } else if (isList(form)) {
    assert.ok(Array.isArray(value), `${place} is no list`);
    const [each] = form;
    assert.equal(value.length > 0, each !== undefined, `${place} has ${value.length} items`);
    if (each !== undefined) for (const [index, item] of value.entries()) assertForm(item, each, `${place}[${index}]`);
  } else {
    assert.ok(typeof value === 'object' && value !== null, `${place} is no record`);
    assert.deepEqual(Object.keys(value).sort(), Object.keys(form).sort(), place);
    for (const [key, one] of Object.entries(form))
      assertForm((value as Record<string, unknown>)[key], one, `${place}.${key}`);
  }
}

function isList(form: Form): form is readonly [] | readonly [Form] {
  return Array.isArray(form);
}

function isOf(name: string, value: unknown): boolean {
  if (name.startsWith("'")) return value === name.slice(1, -1);
  if (name === 'str') return typeof value === 'string';
  if (name === 'int') return Number.isInteger(value);
  if (name === 'num') return typeof value === 'number';
  if (name === 'bool') return typeof value === 'boolean';
  if (name === 'utc') return typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/.test(value);
  if (name === 'seconds') return typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value);
  return name === 'null' && value === null;
}

const cloud: Form = {
  id: 'str',
  name: 'str',
  uuid: 'str',
  enabled: "'true'|'false'",
  app_engines: [{ default: 'str', memory_mb: 'str', name: 'str', price: 'str', specs: 'str', vcpus: 'str' }],
  nova_url: 'str|null',
  auth_url: 'str|null',
  keystone_url: 'str|null',
  glance_url: 'str|null',
  drive_types: [{ hourly_price_usd: 'str', capacity_gb: 'int', name: 'str', key: 'str', id: 'str' }],
  engine_types: [
    {
      id: 'str',
      hourly_price_usd: 'str',
      name: 'str',
      max_drives: 'int',
      max_cache_gb: 'int',
      key: 'str',
      encryption_hourly_price_usd: 'str',
      specs: 'str',
      cache: { base_cache_gb: 'int', max_flash_cache_gb: 'int', recommended_flash_cache_gb: 'int' },
    },
  ],
  fibre_channel: { enabled: 'bool' },
  flash_cache: { enabled: 'bool', increment_gb: 'int' },
  minimum_drives: 'int',
  supports_app_engines: 'bool',
  objs: { enabled: 'bool' },
  zones: [{ allocation_zone_disp_name: 'str', allocation_zone_name: 'str' }],
  array_zone_group_storage_policy_types: { array_zone_group_storage_policy_type: 'str' },
};

const driveType: Form = {
  id: 'int',
  name: 'str',
  capacity_gb: 'int',
  display_capacity_gb: 'int',
  hourly_price_usd: 'str|null',
  key: 'str',
  enabled: 'bool',
  cache: 'bool',
  order: 'int|null',
};

const provider: Form = {
  id: 'str',
  name: 'str',
  key: 'str',
  provider_group_id: 'str',
  cloud_id: 'str',
  enabled: 'str',
  hidden: 'str',
};

const providerGroup: Form = { id: 'str', name: 'str' };

const cache: Form = {
  extra_gb: 'int',
  extra_partitions: 'int',
  included_gb: 'int',
  included_partitions: 'int',
  total_gb: 'int',
  total_partitions: 'int',
  // Of our own: what the array uses of it.
  in_effect_gb: 'num',
};
const orderedCache: Form = {
  total_partitions: 'int',
  total_gb: 'int',
  gb_from_engine: 'int',
  partitions_from_engine: 'int',
};

/** What we add to the record of the specification. */
const additions = { status_message: 'str|null', progress: 'int', undelete_until: 'str|null' };
/** The specification shows a list and not what is in it. */
const networkInterface: Form = {
  id: 'int',
  name: 'str',
  virtual_network_id: 'int',
  vlan_id: 'int',
  ip_address: 'str',
  netmask: 'str',
  gateway: 'str|null',
  ipv6_address: 'str|null',
  ipv6_netmask: 'str|null',
  ipv6_gateway: 'str|null',
  bound: 'bool',
  problem: 'str|null',
};
const appEngine = { name: 'str', key: 'str', specs: 'str' };

const array = {
  ...additions,
  id: 'int',
  name: 'str',
  description: 'str|null',
  status: "'created'",
  type: 'str',
  product: "'storage_array'",
  allocation_zones: ['str'],
  cache,
  app_engine: appEngine,
  engine: { name: 'str', key: 'str', specs: 'str' },
  drives: ['str'],
  drive_count: 'int',
  fibre_channel: 'bool',
  nova_id: 'int',
  management_url: 'str',
  ip_address: 'str',
  ipv6_address: 'str|null',
  initial_passcode: 'str',
  internal_name: 'str',
  time_created_gmt: 'seconds',
  locked_down: 'int|bool',
  provider: { name: 'str', key: 'str' },
  virtual_network_interfaces: [networkInterface],
  flc_enabled: 'bool',
  iscsi_dual_target_mode_enabled: 'bool',
} as const satisfies Form;

const shownArray: Form = { ...array, app_engine: { ...appEngine, type: 'str' }, drives: new MapOf('int') };

/** While it is created it has no address and no place yet. */
const orderedArray = {
  ...array,
  status: "'creating'",
  management_url: 'null',
  ip_address: 'null',
  ipv6_address: 'null',
  nova_id: 'int|null',
  internal_name: 'str|null',
  cache: orderedCache,
  drives: new MapOf('int'),
  virtual_network_interfaces: [],
  version: 'str',
} as const satisfies Form;

const publicService: Form = {
  id: 'int',
  array_id: 'int',
  account_name: 'str',
  username: 'str',
  ip: 'str',
  host: 'str',
  auto_approve: 'bool',
  price: 'str',
};

const objectStorage = {
  product: "'object_storage'",
  engine: 'null',
  app_engine: 'null',
  proxy_virtual_controllers: 'int',
  proxy_storage_virtual_controllers: 'int',
  storage_policies: [
    {
      display_name: 'str',
      policy_name: 'str',
      replicas: 'int',
      sp_type_id: 'int',
      storage_policy_type: 'str',
      data_fragments: 'int',
      parity_fragments: 'int',
    },
  ],
  public_objs: publicService,
} as const satisfies Form;

const account: Form = {
  id: 'int',
  array_id: 'int',
  user_id: 'int',
  account_name: 'str',
  status: "'created'|'waiting_for_approval'",
  objs_request_id: 'int',
  used_capacity: 'num|null',
  containers_count: 'int|null',
  objects_count: 'int|null',
  created_at: 'utc',
  updated_at: 'utc',
};

const request: Form = {
  id: 'int',
  name: 'str',
  status: "'pending'|'approved'|'denied'",
  kind: 'str',
  array_id: 'int|null',
  user_id: 'int',
  arguments: new MapOf('str|int|bool|null'),
  reason: 'str|null',
  created_at: 'utc',
  decided_at: 'utc|null',
  decided_by: 'str|null',
};

const tenant: Form = {
  id: 'int',
  user_id: 'int',
  provider_id: 'int',
  internal_id: 'int',
  username: 'str',
  name: 'str',
};

const vlan: Form = {
  default: 'bool',
  cloud_id: 'int',
  provider_id: 'int',
  vlan_id: 'int',
  custom_networks: ['str'],
  arrays: ['str'],
};

const virtualNetwork: Form = { id: 'int', vlan_id: 'int', tenant_id: 'int', provider_id: 'int', name: 'str' };

const compatibleInterface: Form = {
  name: 'str',
  vlan: 'int',
  custom_network_id: 'int',
  netmask: 'str',
  cidr: 'str',
  gateway: 'str',
};

const priceTable: Form = {
  io_engines: new MapOf({
    currency: 'str',
    type: 'str',
    name: 'str',
    cloud_name: 'str',
    type_id: 'int',
    data: new MapOf({ value: 'str', available_in_cloud: 'bool' }),
  }),
};

/** A block array in a network, and an object storage array with a public service: every field has something to show. */
const made = { block: 0, object: 0, network: 0 };
before(async () => {
  made.network = await portal.network(owner, { name: 'storage' });
  made.block = (await portal.array(owner, { name: 'block', app_engine: 'app_small', flash_cache_capacity: 200 })).id;
  const objects = await startFakeObjects();
  portal.onStop(() => objects.stop());
  portal.cloud.managementUrl = objects.url;
  made.object = (await portal.objectArray(owner, { name: 'object' })).id;
  portal.cloud.managementUrl = undefined;
  await owner.client.publicObjects.create({
    array_id: made.object,
    account_name: 'public',
    admin_username: 'carol',
    admin_password: 'correct horse battery',
    ip: '127.0.0.1:8080',
    host: 'objects.example.org',
  });
});

const data = async (path: string) => {
  const { status, json, text } = await portal.send(admin, { method: 'GET', path: `/api${path}` });
  assert.equal(status, 200, text);
  return json();
};

const one = (list: unknown, key: string, value: unknown) => {
  const found = (list as Record<string, unknown>[]).find((item) => item[key] === value);
  assert.ok(found, `${key} ${String(value)} is not listed`);
  return found;
};

test('the Cloud record is that of the specification, in lists and alone', async () => {
  assertForm((await data('/clouds'))['data'], [cloud], 'clouds');
  assertForm((await data('/clouds/1'))['data'], cloud, 'cloud');
});

test('the policy types of a cloud are a text that carries id, name, replicas and fragments', async () => {
  const { data: shown } = await admin.client.clouds.get({ id: 1 });
  const text = shown.array_zone_group_storage_policy_types.array_zone_group_storage_policy_type;
  const policyType: Form = { id: 'int', name: 'str', replicas: 'int', data_fragments: 'int', parity_fragments: 'int' };
  assertForm(JSON.parse(text), [policyType], 'policy types');
});

test('the drive type record is that of the specification, with its own envelopes', async () => {
  const list = await data('/clouds/1/drive_types');
  assert.deepEqual(Object.keys(list), ['status', 'drive_types']);
  assertForm(list['drive_types'], [driveType], 'drive types');
  const single = await data('/clouds/1/drive_types/1');
  assert.deepEqual(Object.keys(single), ['status', 'drive_type']);
  assertForm(single['drive_type'], driveType, 'drive type');
});

test('the Provider record is all text, and what is absent is the text null', async () => {
  assertForm((await data('/providers'))['data'], [provider], 'providers');
  const shown = (await data('/providers/1'))['data'] as Record<string, unknown>;
  assertForm(shown, provider, 'provider');
  assert.deepEqual([shown['provider_group_id'], shown['enabled'], shown['hidden']], ['null', 'true', 'false']);
});

test('the provider group record is that of the specification, one level deeper than others', async () => {
  const { data: added } = await admin.client.providerGroups.create({ name: 'europe' });
  assertForm((await data('/provider_groups'))['data'], { provider_groups: [providerGroup] }, 'groups');
  const single = await data(`/provider_groups/${added.provider_group_id}`);
  assertForm(single['data'], { provider_group: providerGroup }, 'group');
});

test('the Array record in a list has the keys of its drive types', async () => {
  assertForm(one((await data('/arrays'))['data'], 'name', 'block'), array, 'array');
});

test('the Array record alone has the count of each drive type and the type of its app engine', async () => {
  assertForm((await data(`/arrays/${made.block}`))['data'], shownArray, 'array');
});

test('the Array record of object storage has policies, proxies and the public service besides', async () => {
  const listed: Form = { ...array, ...objectStorage };
  assertForm(one((await data('/arrays'))['data'], 'name', 'object'), listed, 'array');
  const shown: Form = { ...array, ...objectStorage, drives: new MapOf('int') };
  assertForm((await data(`/arrays/${made.object}`))['data'], shown, 'array');
});

async function ordered(order: object): Promise<Record<string, unknown>> {
  const { status, json, text } = await portal.send(admin, { method: 'POST', path: '/api/arrays', body: order });
  assert.equal(status, 200, text);
  return json();
}

test('the reply to an order is the array as it is being created, with no status beside it', async () => {
  const order = { moderate: false, provider: 'local', engine: 'engine_small', app_engine: 'app_small' };
  const reply = await ordered({ ...order, name: 'fresh', drives: { SSD_10GB: 2 }, allocation_zone: 'zone_1' });
  assert.deepEqual(Object.keys(reply), ['data']);
  assertForm(reply['data'], orderedArray, 'array');
});

test('the reply to an order of object storage shows its first policy', async () => {
  const order = { moderate: false, provider: 'local', kind: 'object_storage', allocation_zone: 'zone_1' };
  const reply = await ordered({ ...order, name: 'fresh-object', drives: { HDD_1000GB: 2 } });
  assert.deepEqual(Object.keys(reply), ['data']);
  assertForm(reply['data'], { ...orderedArray, ...objectStorage, public_objs: 'null' }, 'array');
});

test('the public object service record is that of the specification, without its password', async () => {
  assertForm((await data(`/arrays/${made.object}/public_objs`))['data'], publicService, 'public service');
});

test('the account record is that of the specification', async () => {
  const { data: opened } = await owner.client.objectAccounts.create({
    array_id: made.object,
    object_storage_account_name: 'photos',
    object_storage_admin_username: 'carol',
    object_storage_admin_password: 'correct horse battery',
    user_id: owner.id,
    moderate: true,
  });
  assertForm(opened, account, 'account');
  assertForm((await data(`/arrays/${made.object}/accounts/`))['data'], [account], 'accounts');
  assertForm((await data('/accounts'))['data'], [account], 'all accounts');
  assertForm((await data(`/arrays/${made.object}/accounts/${opened.id}`))['data'], account, 'account');
});

test('the request record has what the decisions say beyond id and name', async () => {
  await owner.client.computes.create({ provider_id: 1, display_name: 'farm' });
  const listed = one((await data('/array_requests'))['data'], 'name', 'farm');
  assertForm(listed, request, 'request');
  assertForm((await data(`/array_requests/${String(listed['id'])}`))['data'], request, 'request');
});

test('the Tenant record is that of the specification', async () => {
  assertForm((await data('/tenants'))['data'], [tenant], 'tenants');
});

test('the VLAN record is that of the specification', async () => {
  const listed = (await data('/vlans'))['data'] as { arrays: string[] }[];
  assertForm(
    listed.filter(({ arrays }) => arrays.length > 0),
    [vlan],
    'VLANs',
  );
});

test('the virtual network record is that of the specification, in lists and when it is added', async () => {
  assertForm((await data('/virtual_networks'))['data'], [virtualNetwork], 'networks');
  const { data: added } = await owner.client.virtualNetworks.create({
    name: 'another',
    provider_id: 1,
    tenant_id: await portal.tenantOf(owner),
    cidr: '10.200.0.0/24',
    gateway: '10.200.0.1',
  });
  assertForm(added, virtualNetwork, 'network');
});

test('the compatible interface record is that of the specification', async () => {
  await portal.network(owner, { name: 'joinable' });
  assertForm((await data(`/arrays/${made.block}/compatible_vnis`))['data'], [compatibleInterface], 'interfaces');
});

test('the price table is that of the specification, keyed by provider', async () => {
  const table = (await data('/pricing'))['data'];
  assertForm(table, priceTable, 'prices');
  assert.ok(Object.keys((table as { io_engines: object }).io_engines).every((key) => /^provider\d+$/.test(key)));
});

const asked: readonly (readonly [Asked, readonly string[]])[] = [
  [{ method: 'GET', path: '/api/settings/log_level' }, ['log_level']],
  [{ method: 'GET', path: '/api/pricing' }, ['status', 'data']],
  [{ method: 'GET', path: '/api/messages' }, ['status', 'data', 'count']],
  [{ method: 'PUT', path: '/api/settings/log_level?log_level=info' }, ['status']],
];

for (const [{ method, path }, fields] of asked) {
  test(`${method} ${path.split('?')[0]} replies with ${fields.join(', ')}`, async () => {
    const { json } = await portal.send(admin, { method, path });
    assert.deepEqual(Object.keys(json()), fields);
  });
}

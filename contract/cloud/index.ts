import type { TSchema } from 'typebox';
import type { Access, Api } from '../endpoint.ts';
import { endpoint, type Group } from '../endpoint.ts';
import { boolean, choice, json, optional, text } from '../params.ts';
import { bool, int, listOf, mapOf, maybe, nullable, oneOf, record, str, type RecordOf } from '../records.ts';
import { success } from '../reply.ts';
import { Type } from '../schema.ts';

/**
 * What a cloud says to the portal: its inventory, and the arrays it hosts. An array is described as it should be,
 * whole, as often as one likes: the cloud works out what is missing. So a portal that was cut off just asks again.
 */
const cloudAdmin: Access = { roles: ['cloud_admin'] };

export const products = ['storage_array', 'object_storage'] as const;
export type Product = (typeof products)[number];

const InventoryDriveType = record('InventoryDriveType', {
  id: int(),
  key: str(),
  name: str(),
  capacity_gb: int(),
  medium: oneOf('ssd', 'hdd'),
  cache: bool(),
  order: int(),
  hourly_price_usd: str(),
  total: int('Drives the cloud has'),
  free: int('Drives no array has'),
  free_by_zone: mapOf(int()),
});

const InventoryEngineType = record('InventoryEngineType', {
  id: int(),
  nova_id: int(),
  key: str(),
  name: str(),
  specs: str(),
  hourly_price_usd: str(),
  encryption_hourly_price_usd: str(),
  max_drives: int(),
  max_cache_gb: int(),
  base_cache_gb: int(),
  max_flash_cache_gb: int(),
  recommended_flash_cache_gb: int(),
});

const InventoryAppEngine = record('InventoryAppEngine', {
  key: str(),
  name: str(),
  type: str(),
  specs: str(),
  vcpus: int(),
  memory_mb: int(),
  hourly_price_usd: str(),
  default: bool(),
});

export const PolicyType = record('PolicyType', {
  id: int(),
  name: str(),
  replicas: int(),
  data_fragments: int(),
  parity_fragments: int(),
});

export const Inventory = record('Inventory', {
  uuid: str(),
  version: str(),
  drive_types: listOf(InventoryDriveType),
  engine_types: listOf(InventoryEngineType),
  app_engines: listOf(InventoryAppEngine),
  fibre_channel: bool(),
  file_lifecycle: bool(),
  iscsi_dual_target: bool(),
  flash_cache: record('InventoryFlashCache', { enabled: bool(), increment_gb: int(), partition_gb: int() }),
  minimum_drives: int(),
  object_storage: bool(),
  zones: listOf(record('InventoryZone', { id: int(), name: str(), display_name: str() })),
  policy_types: listOf(PolicyType),
  vlans: record('VlanRange', { first: int(), last: int() }),
  cache_gb_hourly_price_usd: str(),
  public_ip_hourly_price_usd: str(),
  /** Clouds of earlier versions do not say. */
  proxy_hourly_price_usd: maybe(str()),
  public_objs_hourly_price_usd: maybe(str()),
  objs_encryption_hourly_price_usd: maybe(str('Price of encryption of an object storage array')),
  /** Addresses that virtual networks must leave alone: the cloud's own ranges and the machine's own addresses. */
  reserved_ranges: maybe(listOf(str('A range in CIDR form'))),
});
export type Inventory = RecordOf<typeof Inventory>;

const named = (description: string, max = 128) => Type.String({ description, minLength: 1, maxLength: max });
const few = <S extends TSchema>(item: S, max: number) => Type.Array(item, { maxItems: max });
const driveCounts = Type.Record(named('Drive type key', 64), Type.Integer({ minimum: 0, maximum: 10_000 }), {
  description: 'How many drives of each type, in all',
});

const returnedCounts = Type.Unsafe<Record<string, Record<string, number>>>(
  Type.Record(named('Name of the storage policy'), driveCounts),
);

/** Each is a thread of the array's process. */
export const PROXIES_MAX = 16;

const PlacedPolicy = record('PlacedPolicy', {
  name: named('Name of the storage policy'),
  type_id: int("One of the inventory's `policy_types`"),
  drives: driveCounts,
});

/** An address in a virtual network. */
const networkAddress = {
  address: named('IPv4 or IPv6 address', 45),
  netmask: named('Its network', 45),
  gateway: nullable(named('The way out of it', 45)),
  gateway_zone_1: maybe(named('The way out for arrays in the second zone', 45)),
};

const WantedInterface = record('WantedInterface', {
  id: int(),
  ...networkAddress,
  ipv6: maybe(record('WantedIpv6Address', networkAddress)),
  vlan_id: int(),
  forced: maybe(bool("An administrator allowed the network although it has addresses of the machine's own")),
});

const WantedService = record('WantedService', {
  address: named('An address of the array', 45),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  host: named('Name that clients reach it by', 253),
});

/** An array as the portal wants it to be. Product, owner and passcode count when it is placed; later ones change nothing. */
export const ArraySpec = record('ArraySpec', {
  product: oneOf(...products),
  name: named('Name people see'),
  owner: named("Username of the array's first administrator"),
  owner_uuid: maybe(named('Who that is at the portal, whatever the name becomes', 64)),
  owner_id: maybe(int("That user's id at the portal: the tenant of its volumes")),
  provider: maybe(named('Provider that sells it, as mirrors of other arrays show it')),
  initial_passcode: named("That administrator's first password", 255),
  internal_key: named('What the portal signs in with', 255),
  zone: nullable(
    named(
      'Zone all drives come from; null: a storage array stays in the zone with most free drives, object storage spreads over all',
    ),
  ),
  engine: nullable(named('Engine type key; object storage has none')),
  app_engine: nullable(named('Application engine key')),
  extra_cache_gb: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  drives: driveCounts,
  drives_returned: Type.Unsafe<Record<string, number>>({
    ...driveCounts,
    description: 'Drives the array gave back, as far as the portal has heard: `drives` no longer counts them',
  }),
  policy_drives_returned: Type.Unsafe<Record<string, Record<string, number>>>({
    ...returnedCounts,
    description: 'The same of each storage policy',
  }),
  policies: few(PlacedPolicy, 32),
  proxy_zones: few(named('Zone of each proxy controller'), PROXIES_MAX),
  proxies_returned: int('Proxy controllers the array gave back, as far as the portal has heard'),
  public_ip: bool('Whether it also listens on an address of the public range'),
  public_service: maybe(nullable(WantedService)),
  interfaces: few(WantedInterface, 64),
  fibre_channel: bool(),
  file_lifecycle: bool('Once it has file lifecycle it keeps it'),
  iscsi_dual_target: bool(),
  locked_down: maybe(bool('Whether it serves its data and takes no changes')),
  data_reduction: bool(),
  raid_10_pools: bool(),
});
export type ArraySpec = RecordOf<typeof ArraySpec>;

export const PlacedDrive = record('PlacedDrive', {
  uuid: str(),
  number: int('Order in which the array got it'),
  type: str(),
  medium: oneOf('ssd', 'hdd'),
  capacity_gb: int(),
  node: str(),
  zone: str(),
  zone_display_name: str(),
  policy: nullable(str('Storage policy it serves, object storage')),
});
export type PlacedDrive = RecordOf<typeof PlacedDrive>;

export const hostedStates = ['stopped', 'starting', 'running', 'stopping', 'failed', 'removing'] as const;

/** A time in which an array should have served and did not. Only the last few are reported. */
const Outage = record('Outage', {
  id: str('Never given again'),
  began_ms_ago: nullable(int('Null: before this cloud came up')),
  ended_ms_ago: nullable(int('Null: it goes on')),
});

/** The encryption of an array came or went. The last hundred are reported. */
const EncryptionSwitch = record('EncryptionSwitch', {
  id: str('Never given again'),
  active: bool(),
  ms_ago: int(),
});

export const HostedArray = record('HostedArray', {
  uuid: str(),
  number: int(),
  internal_name: str(),
  desired: oneOf('running', 'stopped'),
  state: oneOf(...hostedStates),
  reason: nullable(str('Why it failed, how far its start is, or what is wrong while it runs')),
  outages: listOf(Outage),
  /** Clouds of earlier versions do not say. */
  encryption: maybe(listOf(EncryptionSwitch)),
  management_url: str(),
  ip_address: str(),
  ipv6_address: nullable(str()),
  public_ip: nullable(str()),
  /** Clouds of earlier versions do not say. */
  cache_mb: maybe(int('Cache in effect: what was bought, as far as its engine and the machine have memory')),
  drives: listOf(PlacedDrive),
  drives_returned: driveCounts,
  policy_drives_returned: returnedCounts,
  proxy_zones: listOf(str('Zone of each proxy controller it has now')),
  proxies_returned: int('Proxy controllers it gave back'),
  storage_controllers: int('Controllers that keep and serve data, object storage'),
  /** Clouds of earlier versions do not say. */
  public_service: maybe(
    nullable(
      record('HostedService', {
        bound: bool('Whether object storage is served there'),
        problem: nullable(str('Why it is not, while its process runs')),
      }),
    ),
  ),
  interfaces: listOf(
    record('HostedInterface', {
      id: int(),
      address: str(),
      bound: bool('Whether the array listens there'),
      problem: nullable(str('Why it does not, while its process runs')),
    }),
  ),
  restarts: int('Starts after a crash since the cloud came up'),
  pid: nullable(int()),
});
export type HostedArray = RecordOf<typeof HostedArray>;

const exampleSpec: ArraySpec = {
  product: 'storage_array',
  name: 'Accounts',
  owner: 'dana',
  initial_passcode: 'pick-your-own',
  internal_key: 'pick-another',
  zone: null,
  engine: 'engine_small',
  app_engine: null,
  extra_cache_gb: 0,
  drives: { SSD_10GB: 2 },
  drives_returned: {},
  policy_drives_returned: {},
  policies: [],
  proxy_zones: [],
  proxies_returned: 0,
  public_ip: false,
  interfaces: [],
  fibre_channel: false,
  file_lifecycle: false,
  iscsi_dual_target: false,
  data_reduction: false,
  raid_10_pools: false,
};

const uuid = text('The array, named by the portal', {
  pattern: '^[0-9a-f-]{36}$',
  example: '6f1f5f6e-0000-4000-8000-000000000001',
});

const inventory = {
  get: endpoint('GET', '/inventory', {
    summary: 'What this cloud has and what of it is free',
    access: cloudAdmin,
    reply: success({ data: Inventory }),
  }),
  check: endpoint('GET', '/inventory/check', {
    summary:
      'Prove that every drive is where the books say: free, or with exactly one array, its file as large as the drive',
    access: cloudAdmin,
    reply: success({ data: listOf(str('A problem, in words')) }),
  }),
} satisfies Group;

const hostedArrays = {
  list: endpoint('GET', '/hosted_arrays', {
    summary: 'Every array this cloud hosts, and its state',
    access: cloudAdmin,
    reply: success({ data: listOf(HostedArray) }),
  }),
  get: endpoint('GET', '/hosted_arrays/{uuid}', {
    summary: 'One array',
    access: cloudAdmin,
    params: { uuid },
    reply: success({ data: HostedArray }),
    errors: ['not_found'],
  }),
  put: endpoint('PUT', '/hosted_arrays/{uuid}', {
    summary: 'Make an array be as described: place it, grow it, start it, stop it',
    access: cloudAdmin,
    params: {
      uuid,
      desired: optional(
        choice(
          ['running', 'stopped'],
          'Whether its process should run; absent leaves it as it is, and starts a new one. `running` also tries a failed one again',
        ),
      ),
      // It carries the passcode and the internal key.
      spec: { ...json<ArraySpec>(ArraySpec, 'The array as it should be', { example: exampleSpec }), secret: true },
    },
    reply: success({ data: HostedArray }),
    errors: ['out_of_stock', 'cloud_full', 'no_address', 'wrong_state', 'cloud_claimed', 'metadata_damaged'],
  }),
  spec: endpoint('GET', '/hosted_arrays/{uuid}/spec', {
    summary: 'The array as it was last described, secrets included: for a portal that has lost its record of it',
    access: cloudAdmin,
    params: { uuid },
    reply: success({ data: ArraySpec }),
    errors: ['not_found', 'cloud_claimed'],
  }),
  delete: endpoint('DELETE', '/hosted_arrays/{uuid}', {
    summary:
      'Stop an array, remove its data and give its drives back; ask again until no array is returned: then it is gone',
    access: cloudAdmin,
    params: { uuid },
    reply: success({ data: maybe(HostedArray) }),
    errors: ['cloud_claimed', 'metadata_damaged'],
  }),
} satisfies Group;

const portal = {
  claim: endpoint('POST', '/portal/claim', {
    summary:
      'Say which portal commands this cloud. The first one does; another, or a copy of it, is refused without `force`',
    access: cloudAdmin,
    // Without it nothing can be deleted after a start.
    frees: true,
    params: {
      portal: text('The portal, by its uuid', { max: 64, example: '6f1f5f6e-0000-4000-8000-000000000002' }),
      home: text('The data folder of the portal, by a random id: a copy has another', { max: 64, example: 'home' }),
      instance: text('The process, by a random id', { max: 64, example: 'instance' }),
      boot: text('The start of its machine', { max: 64, example: 'boot' }),
      force: optional(boolean('Moves the cloud to this portal; the other one is refused from then on')),
    },
    reply: success({
      data: record('Claim', { epoch: int('Goes up with each portal process that commands the cloud') }),
    }),
    errors: ['cloud_claimed'],
  }),
  renewCertificate: endpoint('POST', '/portal/certificate', {
    summary: "Take a new certificate for this cloud's issuer: servers of the cloud and its arrays show it from then on",
    access: cloudAdmin,
    params: {
      certificate: text("The issuer's certificate and the authority's, in PEM", { max: 8192, example: 'PEM' }),
    },
    reply: success({}),
    errors: ['cloud_claimed', 'not_supported'],
  }),
} satisfies Group;

export const cloudApi = {
  name: 'cloud',
  title: 'Granary cloud',
  description: 'The inventory of one machine or cluster and the arrays it hosts, as the portal uses them.',
  dialect: 'portal',
  groups: { inventory, hostedArrays, portal },
} as const satisfies Api;

import { products } from '../cloud/index.ts';
import { bool, int, listOf, mapOf, maybe, nullable, num, oneOf, record, secretText, str, utc } from '../records.ts';
import { Type } from '../schema.ts';

export const arrayStates = [
  'creating',
  'created',
  'starting',
  'hibernating',
  'hibernated',
  'restoring',
  'deleting',
  'deleted',
  'failed',
] as const;
export type ArrayState = (typeof arrayStates)[number];

export const PublicObjectService = record('PublicObjectService', {
  id: int(),
  array_id: int(),
  account_name: str(),
  username: str(),
  ip: str('host:port'),
  host: str(),
  auto_approve: bool(),
  price: str('USD an hour, as its provider sells it now'),
});

const StoragePolicy = record('StoragePolicy', {
  display_name: str(),
  policy_name: str(),
  replicas: int(),
  sp_type_id: int(),
  storage_policy_type: str(),
  data_fragments: int(),
  parity_fragments: int(),
});

const Interface = record('VirtualNetworkInterface', {
  id: int(),
  name: str(),
  virtual_network_id: int(),
  vlan_id: int(),
  ip_address: str('IPv4, where the network has it'),
  netmask: str(),
  gateway: nullable(str('For the zone the array is in')),
  ipv6_address: nullable(str()),
  ipv6_netmask: nullable(str()),
  ipv6_gateway: nullable(str()),
  bound: bool('Whether the array listens on the address'),
  problem: nullable(str('Why it does not, while the array runs')),
});

/** The cache of an array that exists. */
const ArrayCache = record('ArrayCache', {
  extra_gb: int(),
  extra_partitions: int(),
  included_gb: int(),
  included_partitions: int(),
  total_gb: int(),
  total_partitions: int(),
  in_effect_gb: nullable(num('What the array uses of it: as much as its engine and the machine have memory for')),
});

/** The cache as the reply to an order has it. */
const OrderedCache = record('OrderedCache', {
  total_partitions: int(),
  total_gb: int(),
  gb_from_engine: int(),
  partitions_from_engine: int(),
});

const common = {
  id: int('Known from the order on'),
  name: str(),
  description: nullable(str()),
  status: oneOf(...arrayStates),
  status_message: nullable(str('What it is doing or why it failed')),
  progress: int('Percent of the work under way; 100 when none is'),
  undelete_until: nullable(utc('Until when a deleted array can be undeleted')),
  product: oneOf(...products),
  type: str('Name of the product'),
  allocation_zones: listOf(str()),
  engine: nullable(record('ArrayEngine', { name: str(), key: str(), specs: str() })),
  drive_count: int(),
  fibre_channel: bool(),
  nova_id: nullable(int()),
  management_url: nullable(str()),
  ip_address: nullable(str()),
  ipv6_address: nullable(str()),
  initial_passcode: secretText('passcode', 'First password of its administrator'),
  internal_name: nullable(str()),
  time_created_gmt: str('YYYY-MM-DD HH:MM:SS'),
  locked_down: bool(),
  provider: record('ArrayProvider', { name: str(), key: str() }),
  virtual_network_interfaces: listOf(Interface),
  flc_enabled: bool(),
  iscsi_dual_target_mode_enabled: bool(),
  proxy_virtual_controllers: maybe(int('Object storage: controllers that serve requests')),
  proxy_storage_virtual_controllers: maybe(int('Object storage: controllers that serve requests and hold drives')),
  storage_policies: maybe(listOf(StoragePolicy)),
  public_objs: maybe(nullable(PublicObjectService)),
};

const appEngine = { name: str(), key: str(), specs: str() };

export const ListedArray = record('ListedArray', {
  ...common,
  cache: ArrayCache,
  app_engine: nullable(record('ListedAppEngine', appEngine)),
  drives: listOf(str('A drive type key')),
});

export const ShownArray = record('Array', {
  ...common,
  cache: ArrayCache,
  app_engine: nullable(record('ArrayAppEngine', { ...appEngine, type: str() })),
  drives: mapOf(int('How many of the drive type')),
});

export const OrderedArray = record('OrderedArray', {
  ...common,
  management_url: Type.Null(),
  ip_address: Type.Null(),
  cache: OrderedCache,
  app_engine: nullable(record('OrderedAppEngine', appEngine)),
  drives: mapOf(int('How many of the drive type')),
  version: str(),
});

export const ArrayContents = record('ArrayContents', {
  known: bool('Whether the array answered; if not, it may hold anything'),
  volumes: nullable(int('Block and file arrays: volumes and shares')),
  attached_volumes: nullable(int('Those that are attached to a server, among the first 1000')),
  accounts: nullable(int('Object storage: accounts beside the system account')),
  containers: nullable(int('Buckets of all accounts')),
  objects: nullable(int('Objects of all accounts')),
});

export const ArrayIdentity = record('ArrayIdentity', {
  known: bool('Whether the array has a user for the caller; if not, its record is all there is to see'),
  message: nullable(str('Why not, and what to do')),
  username: nullable(str()),
  role: nullable(str("As the array's users have them")),
  account_id: nullable(str('Object storage: the account of the user')),
  account_name: nullable(str()),
});

export const CompatibleInterface = record('CompatibleInterface', {
  name: str(),
  vlan: int(),
  custom_network_id: int(),
  netmask: str(),
  cidr: str(),
  gateway: nullable(str()),
});

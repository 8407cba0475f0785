import { gigabytes, words } from '../parts/format.ts';
import type { NameOf } from './item-names.ts';

const KINDS: Readonly<Record<string, string>> = {
  create_array: 'New array',
  delete_array: 'Delete the array',
  change_engine: 'Another engine',
  change_cache: 'Another cache',
  add_drives: 'More drives',
  add_storage_policy: 'Another storage policy',
  add_proxy_controller: 'Another proxy controller',
  join_network: 'Join a network',
  create_account: 'New account',
  delete_account: 'Delete the account',
  create_compute: 'New compute account',
  delete_compute: 'Delete the compute account',
};

export function kindWords(kind: string): string {
  return KINDS[kind] ?? words(kind);
}

interface Asked {
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Names of the request's own record, and what nobody decides by. */
const NOT_SHOWN = new Set([
  'name',
  'moderate',
  'array_id',
  'user_id',
  'provider_id',
  'cloud_id',
  'uuid',
  'type',
  'typeId',
]);

const PRODUCTS: Readonly<Record<string, string>> = {
  storage_array: 'disks and file shares',
  object_storage: 'object storage',
};

/** How an argument is said, where its name and value side by side are no words. */
const SAID: Readonly<Record<string, (value: unknown, nameOf: NameOf) => string>> = {
  product: (value) => PRODUCTS[String(value)] ?? String(value),
  provider: (value) => `at ${String(value)}`,
  drives: (value, nameOf) => amounts(value, nameOf),
  engine: (value, nameOf) => `engine ${nameOf(String(value))}`,
  app_engine: (value, nameOf) => `app engine ${nameOf(String(value))}`,
  appEngine: (value, nameOf) => `app engine ${nameOf(String(value))}`,
  flash_cache_capacity: (value) => `${gigabytes(Number(value))} of cache`,
  extraCacheGb: (value) => `${gigabytes(Number(value))} of cache beyond the engine’s own`,
  allocation_zone: (value, nameOf) => `in ${nameOf(String(value))}`,
  zone: (value, nameOf) => `in ${nameOf(String(value))}`,
  storage_policy_type: String,
  policy: (value) => `for the storage policy ${String(value)}`,
  create_raid_10_pools: () => 'pools made at once',
  file_lifecycle: () => 'file lifecycle',
  iscsi_dual_target: () => 'two iSCSI targets',
  description: (value) => `“${String(value)}”`,
};

/** What was asked for as a line: `engine Small, 8 × 10 GB SSD`. Secrets are not in a request. */
export function askedFor({ arguments: given }: Asked, nameOf: NameOf): string {
  const { change, ...others } = given;
  const all = typeof change === 'object' && change !== null ? { ...others, ...change } : given;
  return Object.entries(all)
    .filter(([name, value]) => !NOT_SHOWN.has(name) && (isShown(value) || name === 'extraCacheGb'))
    .map(([name, value]) => SAID[name]?.(value, nameOf) ?? `${words(name).toLowerCase()} ${valueWords(value)}`)
    .join(', ');
}

function isShown(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** `8 × 10 GB SSD` of drives by their type. */
function amounts(drives: unknown, nameOf: NameOf): string {
  if (typeof drives !== 'object' || drives === null) return String(drives);
  return Object.entries(drives)
    .map(([key, count]) => `${count} × ${nameOf(key)}`)
    .join(', ');
}

function valueWords(value: unknown): string {
  if (value === true) return 'yes';
  if (Array.isArray(value)) return value.map(valueWords).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  const shown = Object.entries(value).filter(([, part]) => isShown(part));
  return shown.map(([name, part]) => `${words(name).toLowerCase()} ${valueWords(part)}`).join(', ');
}

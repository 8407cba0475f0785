import { words } from '../parts/format.ts';

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
const NOT_SHOWN = new Set(['name', 'moderate', 'array_id', 'user_id', 'provider_id', 'cloud_id', 'uuid']);

/** What was asked for as a line: `engine engine_small, drives 8 × SSD_10GB`. Secrets are not in a request. */
export function askedFor({ arguments: given }: Asked): string {
  return Object.entries(given)
    .filter(([name, value]) => !NOT_SHOWN.has(name) && isTold(value))
    .map(([name, value]) => `${words(name).toLowerCase()} ${plainWords(valueWords(value))}`)
    .join(', ');
}

/** `object_storage` → `object storage`; keys of drives stay as the price list has them. */
function plainWords(text: string): string {
  return /^[a-z]+(?:_[a-z0-9]+)+$/.test(text) ? text.replaceAll('_', ' ').replace(/^(?:app )?engine /, '') : text;
}

function isTold(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function valueWords(value: unknown): string {
  if (value === true) return 'yes';
  if (Array.isArray(value)) return value.map(valueWords).join(', ');
  if (typeof value === 'object' && value !== null) return Object.entries(value).map(partWords).join(', ');
  return String(value);
}

/** `8 × SSD_10GB` of an amount; `engine small` of the rest. */
function partWords([name, value]: [string, unknown]): string {
  if (typeof value === 'number' && /^[A-Z0-9_]+$/.test(name)) return `${value} × ${name}`;
  return isTold(value) ? `${words(name).toLowerCase()} ${valueWords(value)}` : '';
}

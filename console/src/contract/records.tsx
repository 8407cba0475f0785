import { Text } from '@mantine/core';
import type { Api, Endpoint } from '@granary/contract';
import { pathParams } from '@granary/contract/endpoint';
import type { ReactNode } from 'react';
import { findOperation, type AnyInput, type Op } from '../api/operations.ts';
import { gigabytes, words } from '../parts/format.ts';
import { State, Time } from '../parts/small.tsx';
import type { Column } from '../parts/table.tsx';

/** What the contract says of records: enough to show any of them without a page of its own. */

export type AnyRecord = Readonly<Record<string, unknown>>;

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** Where the list of a reply is: `volumes`, `data`, or `data.provider_groups`. */
export interface ListPlace {
  readonly path: readonly string[];
  readonly item: Schema;
}

export function listPlaceOf({ reply }: Endpoint): ListPlace | undefined {
  if (reply.kind !== 'record') return undefined;
  return findList(reply.fields, []);
}

function findList(fields: Readonly<Record<string, Schema>>, above: readonly string[]): ListPlace | undefined {
  for (const [name, schema] of Object.entries(fields)) {
    if (schema.type === 'array' && schema.items?.properties) return { path: [...above, name], item: schema.items };
  }
  for (const [name, schema] of Object.entries(fields)) {
    const inner = schema.properties && above.length === 0 ? findList(schema.properties, [name]) : undefined;
    if (inner) return inner;
  }
  return undefined;
}

export function listIn(value: unknown, { path }: ListPlace): readonly AnyRecord[] {
  let found: unknown = value;
  for (const step of path) found = (found as AnyRecord | undefined)?.[step];
  return Array.isArray(found) ? (found as AnyRecord[]) : [];
}

const IDS = ['id', 'name', 'job_name', 'ext_name', 'category_ext_name', 'vc_index', 'msg_id'];
const LABELS = [
  'display_name',
  'job_display_name',
  'remote_display_name',
  'category_name',
  'username',
  'account_name',
  'title',
  'name',
  'key',
];

/** What operations name the record by. Arrays name by `name` where the portal has an `id`. */
export function idOf(api: Api, row: AnyRecord): string {
  const names = api.dialect === 'array' && api.name === 'array' ? ['name', ...IDS] : IDS;
  const found = names.find((name) => row[name] !== undefined && row[name] !== null);
  return plain(found === undefined ? '' : row[found]);
}

export function labelOf(row: AnyRecord): string {
  const found = LABELS.find((name) => typeof row[name] === 'string' && row[name] !== '');
  return plain(found === undefined ? (row['id'] ?? '') : row[found]);
}

const SECRET = /secret|passcode|password|access_key|token|psk/;
const HIDDEN = new Set(['id', 'uuid', 'modified_at', 'updated_at']);
const COLUMNS_MAX = 9;
/** The columns from here on are left out on a phone. */
const EXTRA_FROM = 2;

interface ColumnWording {
  readonly headings?: Readonly<Record<string, string>>;
  readonly cells?: Readonly<Record<string, (row: AnyRecord) => ReactNode>>;
}

export function columnsOf(item: Schema, { headings, cells = {} }: ColumnWording = {}): Column<AnyRecord>[] {
  const { properties = {} } = item;
  const shown = headings
    ? Object.entries(headings).map(([name, heading]) => [name, properties[name] ?? {}, heading] as const)
    : derivedColumns(item);
  return shown.map(([name, schema, heading], index) => ({
    name,
    heading,
    cell: cells[name] ?? ((row) => <Value name={name} schema={schema} value={row[name]} />),
    value: (row) => (typeof row[name] === 'number' ? row[name] : plain(row[name])),
    isExtra: index > EXTRA_FROM,
  }));
}

function derivedColumns(item: Schema): (readonly [string, Schema, string])[] {
  const fields = Object.entries(item.properties ?? {}).filter(([name, schema]) => isShown(name, schema));
  const labels = fields.filter(([name]) => LABELS.includes(name));
  const rest = fields.filter(([name]) => !LABELS.includes(name) && !HIDDEN.has(name));
  return [...labels, ...rest].slice(0, COLUMNS_MAX).map(([name, schema]) => [name, schema, words(name)] as const);
}

function isShown(name: string, schema: Schema): boolean {
  return !SECRET.test(name) && (schema.type !== 'object' || schema.properties === undefined) && !isObjects(schema);
}

function isObjects(schema: Schema): boolean {
  return schema.type === 'array' && schema.items?.type === 'object';
}

const GB_FIELD = /(?:^|_)capacity$|_gb$|capacity_gb$/;
/** Numbers that name something have no thousands. */
const NAMING_FIELD = /(?:^|_)(?:id|uid|gid|vlan|vrid|port|lun|version)$/;
const STATE_FIELD = /^(?:status|state|health_status|capacity_mode|rebalance_status|proxy_state)$/;
const TIME_FIELD = /(?:_at|_time|_gmt|^time|^created|^rpo)$/;

/** A field as its declared type says; the name only helps where a type cannot say more. */
export function Value({
  name,
  schema,
  value,
}: {
  readonly name: string;
  readonly schema: Schema;
  readonly value: unknown;
}): ReactNode {
  if (value === null || value === undefined || value === '') return '–';
  if (schema.format === 'utc' || schema.format === 'iso' || (TIME_FIELD.test(name) && typeof value !== 'boolean'))
    return <Time at={value as string} />;
  if (STATE_FIELD.test(name)) return <State of={plain(value)} />;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return numberText(name, value);
  const text = plain(value);
  return text.length > 60 ? (
    <Text size="sm" truncate maw={320} title={text}>
      {text}
    </Text>
  ) : (
    text
  );
}

function numberText(name: string, value: number): string {
  if (GB_FIELD.test(name)) return gigabytes(value);
  return NAMING_FIELD.test(name) ? String(value) : value.toLocaleString('en');
}

export function plain(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.map(plain).join(', ');
  return Object.entries(value)
    .map(([key, one]) => `${key}=${plain(one)}`)
    .join(', ');
}

/** The operations of a group that work on one record of its list. */
export function recordOperations(api: Api, group: string): Op[] {
  const endpoints = Object.entries(api.groups[group] ?? {});
  return endpoints
    .filter(([name, { method, path }]) => method !== 'GET' && pathParams(path).length === 1 && name !== 'create')
    .flatMap(([name]) => findOperation(api, group, name) ?? []);
}

/** Those that need no record: they make one, or change settings. */
export function groupOperations(api: Api, group: string): Op[] {
  const endpoints = Object.entries(api.groups[group] ?? {});
  return endpoints
    .filter(([, { method, path }]) => method !== 'GET' && pathParams(path).length === 0)
    .flatMap(([name]) => findOperation(api, group, name) ?? []);
}

export function inputFor(op: Op, row: AnyRecord): AnyInput {
  const [param] = pathParams(op.endpoint.path);
  if (param === undefined) return {};
  const same = row[param];
  return { [param]: same === undefined ? idOf(op.api, row) : same };
}

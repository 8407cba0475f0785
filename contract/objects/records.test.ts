import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as exported from './index.ts';

interface Shape {
  readonly type?: string;
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

/** Every record of the contract by its title, those inside others included. */
const records = new Map<string, Shape>();

function collect(shape: Shape): void {
  if (shape.title !== undefined) records.set(shape.title, shape);
  const inside = [...Object.values(shape.properties ?? {}), ...(shape.anyOf ?? []), shape.items];
  for (const one of inside) if (one) collect(one);
}

for (const shape of Object.values(exported)) collect(shape as Shape);

/** A field that may be null is of the type it has otherwise. */
function typeOf({ type, anyOf }: Shape): string | undefined {
  return anyOf ? anyOf.find((one) => one.type !== 'null')?.type : type;
}

const [, ...lines] = readFileSync(new URL('./records.tsv', import.meta.url), 'utf8')
  .trim()
  .split('\n');
const specified = Map.groupBy(
  lines.map((line) => line.split('\t')),
  ([record = '']) => record,
);

/** Fields decided on beyond the specification's tables. */
const decided: Readonly<Record<string, readonly string[]>> = {
  Account: ['containers', 'objects', 'used_capacity'],
  Drive: ['used_capacity'],
  GlobalSettings: [
    'public_api_hostname',
    'region',
    'encryption',
    'expansion_percent',
    'load_balancer_mode',
    'custom_name_servers',
    'dns_lookup_domain',
    'api_errors_enabled',
    'api_errors_threshold',
    'smtp_host',
    'smtp_port',
    'smtp_secure',
    'smtp_user',
    'smtp_from',
  ],
  StoragePolicy: ['full_in_min', 'used_capacity'],
  StoragePolicyDetail: ['full_in_min', 'used_capacity'],
};

for (const [name, rows] of specified) {
  test(`the record ${name} has just the fields of the specification, with the types it gives`, () => {
    const { properties } = records.get(name) ?? assert.fail(`the contract lacks ${name}`);
    assert.ok(properties);
    const fields = [...rows.map(([, field]) => field), ...(decided[name] ?? [])];
    assert.deepEqual(Object.keys(properties).toSorted(), fields.toSorted());
    for (const [, field = '', type] of rows)
      if (type !== undefined) assert.equal(typeOf(properties[field] as Shape), type, field);
  });
}

import type { RecordReply } from '@granary/contract';

/** What a command can know of a reply before it asks: its subject, as the contract declares it. */
export type Shape =
  | { readonly kind: 'rows' | 'record'; readonly title: string | undefined; readonly fields: Schemas }
  | { readonly kind: 'values' | 'nothing' }
  /** Keys are data, such as names of drive types. */
  | { readonly kind: 'open' };

/** The part of JSON Schema that says how a value looks. */
export interface Schema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Schemas;
  readonly patternProperties?: Schemas;
}

export type Schemas = Readonly<Record<string, Schema>>;

export function shapeOfReply({ fields }: RecordReply): Shape {
  const all = fields as Schemas;
  const nested = Object.values(all).map(withoutNull).find(isNested);
  if (nested) return shapeOf(nested);
  return Object.keys(all).length === 0 ? { kind: 'nothing' } : { kind: 'record', title: undefined, fields: all };
}

/** Object storage has the id of what it created under `count`; people know it as the id. */
export function titleOf(field: string, schema: Schema | undefined): string {
  return field === 'count' && schema?.type === 'string' ? 'id' : field;
}

/** A field that may be null is shown as what it is when it is not. */
export function withoutNull(schema: Schema): Schema {
  const [only, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  return only !== undefined && others.length === 0 ? only : schema;
}

function isNested(schema: Schema): boolean {
  return schema.type === 'array' || schema.type === 'object';
}

function shapeOf(schema: Schema): Shape {
  if (schema.type === 'array') {
    const items = withoutNull(schema.items ?? {});
    if (items.properties) return { kind: 'rows', title: items.title, fields: items.properties };
    return isNested(items) ? { kind: 'open' } : { kind: 'values' };
  }
  if (!schema.properties) return { kind: 'open' };
  const [only, ...others] = Object.values(schema.properties).map(withoutNull);
  if (only !== undefined && others.length === 0 && isNested(only)) return shapeOf(only);
  return { kind: 'record', title: schema.title, fields: schema.properties };
}

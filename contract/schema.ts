import type TypeBox from 'typebox';
import type { TSchema } from 'typebox';

type Schema = Record<string, unknown>;

/** Hidden, so that it is no part of the JSON Schema; `Type.Object` reads it. */
const OPTIONAL = '~optional';

/**
 * The few builders of typebox that contracts use, with its types but not its code: that is 700 modules, of which each
 * array process of a machine would keep its own copy in memory.
 */
export const Type = {
  String: plain('string') as typeof TypeBox.String,
  Integer: plain('integer') as typeof TypeBox.Integer,
  Number: plain('number') as typeof TypeBox.Number,
  Boolean: plain('boolean') as typeof TypeBox.Boolean,
  Null: plain('null') as typeof TypeBox.Null,
  Unknown: ((options?: Schema) => ({ ...options })) as unknown as typeof TypeBox.Unknown,
  Literal: ((value: string | number) => ({ type: typeof value, const: value })) as typeof TypeBox.Literal,
  Array: ((items: TSchema, options?: Schema) => ({ type: 'array', items, ...options })) as typeof TypeBox.Array,
  Union: ((anyOf: TSchema[], options?: Schema) => ({ anyOf, ...options })) as unknown as typeof TypeBox.Union,
  Object: objectOf as unknown as typeof TypeBox.Object,
  Record: recordOf as unknown as typeof TypeBox.Record,
  Optional: optional as unknown as typeof TypeBox.Optional,
  Unsafe: ((schema: Schema) => schema) as unknown as typeof TypeBox.Unsafe,
};

function plain(type: string): unknown {
  return (options?: Schema): Schema => ({ type, ...options });
}

function objectOf(properties: Readonly<Record<string, Schema>>, options?: Schema): Schema {
  const required = Object.keys(properties).filter((key) => properties[key]?.[OPTIONAL] !== true);
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
}

/** Keys are any text. */
function recordOf(_key: TSchema, value: TSchema, options?: Schema): Schema {
  return { type: 'object', patternProperties: { '^.*$': value }, ...options };
}

function optional(schema: Schema): Schema {
  return Object.defineProperty({ ...schema }, OPTIONAL, { value: true });
}

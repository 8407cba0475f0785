import type { TSchema } from 'typebox';
import type { Components } from './components.ts';
import type { JsonSchema } from './types.ts';

type Convert = (schema: JsonSchema) => JsonSchema;

/** Keywords that hold schemas, by how they hold them; the values of all others are copied as they are. */
const nested: Readonly<Record<string, (value: never, convert: Convert) => unknown>> = {
  items: (schema: JsonSchema, convert) => convert(schema),
  additionalProperties: (schema: JsonSchema | boolean, convert) =>
    typeof schema === 'boolean' ? schema : convert(schema),
  anyOf: (schemas: JsonSchema[], convert) => schemas.map(convert),
  properties: mapSchemas,
  patternProperties: mapSchemas,
};

function mapSchemas(schemas: Readonly<Record<string, JsonSchema>>, convert: Convert): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, convert(schema)]));
}

/** The schema as the document has it: every titled record is lifted into the components. */
export function documentSchema(schema: TSchema, components: Components): JsonSchema {
  const convert: Convert = (part) => {
    const entries = Object.entries(part).map(([keyword, value]) => [
      keyword,
      nested[keyword]?.(value as never, convert) ?? value,
    ]);
    const plain = simplified(Object.fromEntries(entries) as JsonSchema);
    return typeof plain.title === 'string' ? components.define('schemas', plain.title, plain) : plain;
  };
  return convert(schema as JsonSchema);
}

const ANY_KEY = '^.*$';

/** The shortest of several ways to say the same, which pages of documentation also show best. */
function simplified(schema: JsonSchema): JsonSchema {
  const { anyOf, patternProperties, ...rest } = schema as {
    anyOf?: readonly JsonSchema[];
    patternProperties?: Readonly<Record<string, JsonSchema>>;
  };
  const [only, none] = anyOf?.length === 2 ? anyOf : [];
  if (none?.type === 'null' && typeof only?.type === 'string' && !only.enum)
    return { ...rest, ...only, type: [only.type, 'null'] };
  if (patternProperties?.[ANY_KEY]) return { ...rest, additionalProperties: patternProperties[ANY_KEY] };
  return schema;
}

import { type Endpoint, type Operation, pathParams } from '../endpoint.ts';
import type { Param, ParamKind } from '../params.ts';
import type { Components } from './components.ts';
import { documentSchema } from './schemas.ts';
import type { Content, JsonSchema, OperationObject, ParameterObject, Reference } from './types.ts';

type NamedParam = readonly [name: string, param: Param];

/** How a form carries what is more than one value. */
const encodings: Partial<Record<ParamKind, object>> = {
  json: { contentType: 'application/json' },
  list: { style: 'form', explode: false },
};

/** `pathNames` are the names of the path the operation is filed under, which may differ from its own. */
export function requestOf(
  { id, endpoint }: Operation,
  pathNames: readonly string[],
  components: Components,
): Pick<OperationObject, 'parameters' | 'requestBody'> {
  const own = pathParams(endpoint.path);
  const rest = Object.entries(endpoint.params).filter(([name]) => !own.includes(name));
  const hasBody = endpoint.method === 'POST' || endpoint.method === 'PUT';
  const parameters = [
    ...own.map((name, position) => pathParameter(pathNames[position] ?? name, paramOf(endpoint, name), components)),
    ...(hasBody ? [] : rest.map((named) => queryParameter(named, components))),
    ...(endpoint.method === 'POST' ? [idempotencyKey(components)] : []),
  ];
  return {
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody && rest.length > 0 && { requestBody: requestBody(id, rest, components) }),
  };
}

function paramOf({ params, path }: Endpoint, name: string): Param {
  const param = params[name];
  if (!param) throw new Error(`${path} does not declare its parameter ${name}`);
  return param;
}

function pathParameter(name: string, param: Param, components: Components): ParameterObject {
  return {
    name,
    in: 'path',
    required: true,
    description: descriptionOf(param),
    schema: valueSchema(param, components),
    ...exampleOf(param),
  };
}

function queryParameter([name, param]: NamedParam, components: Components): ParameterObject {
  const schema = valueSchema(param, components);
  const value =
    param.kind === 'json'
      ? { content: { 'application/json': { schema, ...exampleOf(param) } } }
      : { schema, ...exampleOf(param), ...(param.kind === 'list' && ({ style: 'form', explode: false } as const)) };
  return {
    name,
    in: 'query',
    ...(param.presence === 'required' && { required: true }),
    description: descriptionOf(param),
    ...value,
  };
}

function idempotencyKey(components: Components): Reference {
  return components.define('parameters', 'IdempotencyKey', {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Any text of your own. The same key with the same request acts once: for 24 hours the first answer is returned again.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  } satisfies ParameterObject);
}

function requestBody(
  id: string,
  params: readonly NamedParam[],
  components: Components,
): NonNullable<OperationObject['requestBody']> {
  const required = params.filter(([, param]) => param.presence === 'required').map(([name]) => name);
  const properties = Object.fromEntries(params.map(([name, param]) => [name, bodyProperty(param, components)]));
  const schema = components.define('schemas', `${pascal(id)}Input`, {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
  });
  return { required: required.length > 0, content: bodyContent(params, schema) };
}

function bodyContent(params: readonly NamedParam[], schema: JsonSchema): Content {
  if (params.some(([, { kind }]) => kind === 'file')) return { 'multipart/form-data': { schema } };
  const encoded = params.flatMap(([name, { kind }]) => {
    const encoding = encodings[kind];
    return encoding ? [[name, encoding] as const] : [];
  });
  return {
    'application/x-www-form-urlencoded': {
      schema,
      ...(encoded.length > 0 && { encoding: Object.fromEntries(encoded) }),
    },
    'application/json': { schema },
  };
}

function bodyProperty(param: Param, components: Components): JsonSchema {
  const { example } = exampleOf(param);
  return {
    ...valueSchema(param, components),
    description: descriptionOf(param),
    ...(example !== undefined && { examples: [example] }),
  };
}

/** What a caller sends, which for a capacity is not what the handler receives. */
function valueSchema(param: Param, components: Components): JsonSchema {
  const schema =
    param.kind === 'capacity'
      ? { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?[MGTmgt]?$' }
      : documentSchema(param.schema, components);
  return {
    ...schema,
    ...(param.secret && schema.type === 'string' && { format: 'password' }),
    ...(param.default !== undefined && { default: sent(param, param.default) }),
  };
}

function exampleOf(param: Param): { example?: unknown } {
  if (param.example !== undefined) return { example: sent(param, param.example) };
  return param.kind === 'capacity' ? { example: '10G' } : {};
}

function sent(param: Param, value: unknown): unknown {
  return param.kind === 'capacity' ? `${String(value)}M` : value;
}

function descriptionOf({ description, aliases = [] }: Param): string {
  if (aliases.length === 0) return description;
  return `${description}. Also taken as ${aliases.map((alias) => `\`${alias}\``).join(', ')}`;
}

function pascal(id: string): string {
  return id
    .split('.')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

import type { Api, Endpoint } from '../endpoint.ts';
import { type ErrorEntry, errorCatalogue, type ErrorName } from '../errors.ts';
import type { Components } from './components.ts';
import type { Content, JsonSchema, Reference } from './types.ts';

type Dialect = Api['dialect'];

const everywhere: readonly ErrorName[] = [
  'bad_parameter',
  'unsupported_content',
  'too_large',
  'too_many_attempts',
  'internal',
  'stopping',
];
const signedIn: readonly ErrorName[] = ['invalid_credentials', 'not_allowed'];
const posts: readonly ErrorName[] = ['idempotency_mismatch', 'idempotency_interrupted'];

/** The errors an endpoint can give, by the HTTP status they come with: that of arrays is mostly 200. */
export function errorsByStatus(dialect: Dialect, endpoint: Endpoint): ReadonlyMap<number, readonly ErrorName[]> {
  const names = new Set([
    ...everywhere,
    ...(dialect === 'array' ? (['unknown_path'] as const) : []),
    ...(endpoint.access.roles === 'anyone' ? [] : signedIn),
    ...(endpoint.method === 'POST' ? posts : []),
    ...endpoint.errors,
  ]);
  const byCode = [...names].sort((a, b) => errorCatalogue[a].code - errorCatalogue[b].code);
  return Map.groupBy(byCode, (name) => {
    const entry: ErrorEntry = errorCatalogue[name];
    return dialect === 'portal' || entry.keepsHttp ? entry.http : 200;
  });
}

export function errorResponse(dialect: Dialect, names: readonly ErrorName[], components: Components): Reference {
  return components.define('responses', names.join('.'), {
    description: errorList(names),
    content: errorContent(dialect, components),
  });
}

/** A line for each, with what its message says. */
export function errorList(names: readonly ErrorName[]): string {
  return names.map((name) => `- ${errorCatalogue[name].code} \`${name}\`: ${errorCatalogue[name].message}`).join('\n');
}

function errorContent(dialect: Dialect, components: Components): Content {
  return {
    'application/json': { schema: failureSchema(dialect, 'json', components) },
    'application/xml': { schema: failureSchema(dialect, 'xml', components) },
  };
}

export function failureSchema(dialect: Dialect, format: 'json' | 'xml', components: Components): JsonSchema {
  if (dialect === 'portal') return components.define('schemas', 'Failure', portalFailure);
  const name = format === 'json' ? 'Failure' : 'FailureXml';
  const status = { type: 'integer', minimum: 1, description: 'The code of the error' };
  return components.define('schemas', name, statusSchema(status, format));
}

/** A status and a sentence, as arrays and object storage have them in either format. */
export function statusSchema(status: JsonSchema, format: 'json' | 'xml'): JsonSchema {
  const message = format === 'json' ? 'message' : 'status_msg';
  const body = object({ status, [message]: { type: 'string' } });
  return format === 'json' ? object({ response: body }) : body;
}

const text = { type: 'string' };
const portalFailure = {
  type: 'object',
  properties: {
    status: { const: 'error' },
    message: text,
    errors: {
      type: 'array',
      description: 'For bad input: what is wrong',
      items: object({ field: text, message: text }),
    },
  },
  required: ['status', 'message'],
};

function object(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties) };
}

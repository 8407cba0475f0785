import type { Api, Endpoint } from '../endpoint.ts';
import type { ErrorName } from '../errors.ts';
import { type RecordReply, replySchema } from '../reply.ts';
import type { Components } from './components.ts';
import { errorList, errorResponse, errorsByStatus, failureSchema, statusSchema } from './errors.ts';
import { documentSchema } from './schemas.ts';
import type { Content, JsonSchema, OperationObject, ResponseObject } from './types.ts';

export function responsesOf(api: Api, endpoint: Endpoint, components: Components): OperationObject['responses'] {
  const errors = errorsByStatus(api.dialect, endpoint);
  const others = [...errors].filter(([status]) => status !== 200).sort(([a], [b]) => a - b);
  return {
    200: okResponse(api, endpoint, errors.get(200) ?? [], components),
    ...Object.fromEntries(
      others.map(([status, names]) => [String(status), errorResponse(api.dialect, names, components)]),
    ),
  };
}

/** Arrays answer 200 for failures too, so what it can hold is one of several. */
function okResponse(
  api: Api,
  endpoint: Endpoint,
  failures: readonly ErrorName[],
  components: Components,
): ResponseObject {
  const submitted = endpoint.job !== undefined && api.asyncStatus !== undefined;
  const parts = [
    'Done.',
    submitted ? `\`status\` ${api.asyncStatus}: taken, and the work goes on after the reply.` : '',
    failures.length > 0 ? `Any other \`status\` is a failure:\n\n${errorList(failures)}` : '',
  ];
  const body = (format: 'json' | 'xml') => [
    ...(endpoint.reply.kind === 'record' ? [recordSchema(endpoint.reply, format, components)] : []),
    ...(submitted ? [submittedSchema(api.asyncStatus, format, components)] : []),
    ...(failures.length > 0 ? [failureSchema(api.dialect, format, components)] : []),
  ];
  return {
    description: parts.filter((part) => part !== '').join(' '),
    content: {
      ...fileContent(endpoint),
      ...formatContent('application/json', body('json')),
      ...formatContent('application/xml', body('xml')),
    },
  };
}

function formatContent(contentType: string, schemas: readonly JsonSchema[]): Content {
  const [first, ...others] = schemas;
  if (!first) return {};
  return { [contentType]: { schema: others.length === 0 ? first : { anyOf: schemas } } };
}

function fileContent({ reply }: Endpoint): Content {
  if (reply.kind !== 'file') return {};
  const binary = !reply.contentType.startsWith('text/');
  return { [reply.contentType]: { schema: { type: 'string', ...(binary && { format: 'binary' }) } } };
}

/** In XML the root element takes the place of the wrapper. */
function recordSchema(reply: RecordReply, format: 'json' | 'xml', components: Components): JsonSchema {
  const { wrapper: _wrapper, ...bare } = reply;
  return documentSchema(replySchema(format === 'json' ? reply : bare), components);
}

function submittedSchema(status: number | undefined, format: 'json' | 'xml', components: Components): JsonSchema {
  const name = format === 'json' ? 'Submitted' : 'SubmittedXml';
  return components.define('schemas', name, statusSchema({ const: status }, format));
}

import { type Api, type Operation, operations, pathParams } from '../endpoint.ts';
import { Components } from './components.ts';
import { requestOf } from './requests.ts';
import { responsesOf } from './responses.ts';
import type { OpenApiDocument, OperationObject, PathItem } from './types.ts';

export interface DocumentOptions {
  /** Of the release that serves the API. */
  readonly version: string;
  /** Where the paths start, the `/api` included. */
  readonly serverUrl?: string;
}

const formats =
  'Replies are JSON, or XML where the address ends in `.xml` or `Accept` asks for it: the same fields with dashes for underscores. Requests may be forms, JSON or XML.';

const schemes: Readonly<Record<Api['dialect'], Readonly<Record<string, object>>>> = {
  portal: {
    token: { type: 'apiKey', in: 'header', name: 'X-Token', description: 'The token of a user.' },
    basic: { type: 'http', scheme: 'basic', description: 'Username and password, or the token as the username.' },
  },
  array: {
    accessKey: { type: 'apiKey', in: 'header', name: 'X-Access-Key', description: 'The access key of a user.' },
  },
};

/** An API as an OpenAPI 3.1 document: nothing in it is said anywhere but in the contract. */
export function openApiDocument(api: Api, { version, serverUrl = '/api' }: DocumentOptions): OpenApiDocument {
  const components = new Components();
  const paths = pathsOf(api, components);
  const security = Object.entries(schemes[api.dialect]).map(([name, scheme]) => {
    components.define('securitySchemes', name, scheme);
    return { [name]: [] as const };
  });
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version,
      description: `${api.description}\n\n${formats}`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    security,
    tags: Object.entries(api.groups).map(([group, endpoints]) => ({
      name: groupTitle(group),
      description: `Operations ${Object.keys(endpoints)
        .map((name) => `\`${group}.${name}\``)
        .join(', ')}.`,
    })),
    paths,
    components: components.toObject(),
  };
}

/**
 * OpenAPI takes `/things/{id}` and `/things/{name}` for one path, so the second is filed under the first, with the
 * first one's names: callers fill a path by position, and notice nothing.
 */
function pathsOf(api: Api, components: Components): Record<string, PathItem> {
  const byShape = new Map<string, string>();
  const paths: Record<string, PathItem> = {};
  for (const operation of operations(api)) {
    const { path, method } = operation.endpoint;
    const shape = path.replaceAll(/\{[^}]+\}/g, '{}');
    const filed = byShape.get(shape) ?? path;
    byShape.set(shape, filed);
    const item = (paths[filed] ??= {});
    const verb = method.toLowerCase();
    if (item[verb]) throw new Error(`${operation.id} and ${item[verb].operationId} are both ${method} ${shape}`);
    item[verb] = operationObject(api, operation, pathParams(filed), components);
  }
  return paths;
}

function operationObject(
  api: Api,
  operation: Operation,
  pathNames: readonly string[],
  components: Components,
): OperationObject {
  const { access, summary, job } = operation.endpoint;
  const { roles, owned } = access;
  return {
    operationId: operation.id,
    tags: [groupTitle(operation.group)],
    summary,
    ...(owned && {
      description: "Administrators reach everyone's; others only what is theirs, and the rest answers as not found.",
    }),
    ...requestOf(operation, pathNames, components),
    responses: responsesOf(api, operation.endpoint, components),
    ...(roles === 'anyone' ? { security: [] as const } : { 'x-roles': roles }),
    ...(job && { 'x-job': job }),
  };
}

const ACRONYMS = /\b(?:api|ip|nas|raid|s3|vlan)(?=s?\b)/g;

/** `loadBalancerGroups` → `Load balancer groups`. */
function groupTitle(group: string): string {
  const words = group.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const title = words.replaceAll(ACRONYMS, (word) => word.toUpperCase());
  return title.charAt(0).toUpperCase() + title.slice(1);
}

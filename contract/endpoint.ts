import type { ErrorName } from './errors.ts';
import type { Param, Params, Parsed, Sent } from './params.ts';
import type { Reply, Returned } from './reply.ts';

/**
 * Names of what the specification does not name: a path is snake_case, with `{id}` for the group's own record and
 * `{array_id}` for one above it; an operation is a verb, or a verb and a noun (`list`, `setCache`, `listVolumes`).
 */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * Who may call. `owned` says that the path names something that has an owner: an administrator reaches
 * all of them, anyone else only their own, and another's answers as not found.
 */
export interface Access {
  readonly roles: readonly string[] | 'anyone';
  readonly owned?: true;
  /** Below an administrator only the creator of what this parameter names may call; every user may see it. */
  readonly creator?: CreatedThing & { readonly also?: CreatedThing };
}

interface CreatedThing {
  readonly kind: string;
  readonly param: string;
}

export const anyone: Access = { roles: 'anyone' };

export interface Endpoint<P extends Params = Params, R extends Reply = Reply> {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly access: Access;
  readonly params: P;
  readonly reply: R;
  /** Starts work that outlives the request. */
  readonly job?: JobForm;
  /** It makes room, or is needed to: it works on a full disk. DELETE says so by itself. */
  readonly frees?: boolean;
  /** Errors of its own, beyond those every endpoint can give. */
  readonly errors: readonly ErrorName[];
  readonly body?: BodyLimits;
  /** The reply gives the browser its session's cookie, or takes it away. */
  readonly setsCookie?: true;
}

/** What its body may be, where that is more than the 64 KiB and 5,000 elements of XML that every endpoint takes. */
export interface BodyLimits {
  readonly xmlBytesMax: number;
  readonly xmlElementsMax: number;
}

/** How a caller sees the work end: the status field of the record it watches. */
export interface JobForm {
  readonly until: readonly string[];
  /**
   * The record to watch where it is not the one the path names: the group whose `get` shows it, and the parameter or
   * field of the reply that names it.
   */
  readonly watch?: { readonly group: string; readonly by: string };
}

interface EndpointOptions<P extends Params, R extends Reply> {
  readonly summary: string;
  readonly access: Access;
  readonly params?: P;
  readonly reply: R;
  readonly job?: JobForm;
  /** It makes room, or is needed to: it works on a full disk. DELETE says so by itself. */
  readonly frees?: boolean;
  readonly errors?: readonly ErrorName[];
  readonly body?: BodyLimits;
  /** The reply gives the browser its session's cookie, or takes it away. */
  readonly setsCookie?: true;
}

/** No parameter at all: every key is absent, so callers may leave the input out. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- nothing is just what it should say
type NoParams = Record<never, Param>;

export function endpoint<R extends Reply, P extends Params = NoParams>(
  method: Method,
  path: string,
  options: EndpointOptions<P, R>,
): Endpoint<P, R> {
  return { errors: [], ...options, method, path, params: options.params ?? ({} as P) };
}

/** Endpoints by their short name: `list`, `get`, `create`. */
export type Group = Readonly<Record<string, Endpoint>>;

export interface Api<G extends Readonly<Record<string, Group>> = Readonly<Record<string, Group>>> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The shape of errors and of XML: the portal speaks one way, arrays and object storage another. */
  readonly dialect: 'portal' | 'array';
  /** The bit pattern an asynchronous result carries as its status, where the API has one. */
  readonly asyncStatus?: number;
  readonly groups: G;
}

export interface Operation {
  /** `volumes.list`: the name in the SDK, the command line, the metrics and the OpenAPI document. */
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly endpoint: Endpoint;
}

export function operations(api: Api): Operation[] {
  return Object.entries(api.groups).flatMap(([group, endpoints]) =>
    Object.entries(endpoints).map(([name, endpoint]) => ({ id: `${group}.${name}`, group, name, endpoint })),
  );
}

export function pathParams(path: string): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] as string);
}

export type InputOf<E extends Endpoint> = Parsed<E['params']>;
export type SentTo<E extends Endpoint> = Sent<E['params']>;
export type OutputOf<E extends Endpoint> = Returned<E['reply']>;

import { pathParams, type Api, type Endpoint, type FileBody, type Param, type UploadedFile } from '@granary/contract';
import { ApiError, ConnectionError, StillRunning } from './errors.ts';

export interface Connection {
  /** `http://host:port`, without `/api`. */
  readonly url: string;
  /** Credentials and whatever else every request carries. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Stands in for the platform's fetch, in tests or to guard where requests may go. */
  readonly fetch?: typeof fetch;
}

/** What came back, whole and in parts. */
export interface Answer {
  /** The body as the API gave it; a file for endpoints that reply with one. */
  readonly body: unknown;
  /** What the handler at the other end returned: the body without the level around it. */
  readonly value: unknown;
  /** How many records a list holds in all, where the service says. */
  readonly total: number | undefined;
}

type Input = Readonly<Record<string, unknown>>;
type Entries = readonly (readonly [string, unknown])[];

const TIMEOUT_MS_DEFAULT = 30_000;

/** Sends one request as the contract declares it and returns what the handler at the other end returned. */
export async function call(api: Api, endpoint: Endpoint, connection: Connection, input: Input): Promise<unknown> {
  return (await exchange(api, endpoint, connection, input)).value;
}

/** As `call`, for callers that show the reply itself. */
export async function exchange(api: Api, endpoint: Endpoint, connection: Connection, input: Input): Promise<Answer> {
  const { url, init } = requestOf(endpoint, connection, input);
  const received = await send(connection, url, init);
  if (endpoint.reply.kind === 'file' && received.ok && !isJson(received)) {
    const file = fileOf(received);
    return { body: file, value: file, total: undefined };
  }
  const body = parse(received);
  const value = api.dialect === 'portal' ? portalBody(received, body) : arrayBody(api, endpoint, received, body);
  const total = received.headers.get('x-total-count');
  return { body, value, total: total === null ? undefined : Number(total) };
}

function requestOf(endpoint: Endpoint, { url, headers }: Connection, input: Input): { url: string; init: RequestInit } {
  const inPath = pathParams(endpoint.path);
  const path = endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) => pathSegment(name, input[name]));
  const rest = Object.entries(input)
    .filter(([name, value]) => !inPath.includes(name) && value !== undefined)
    .map(([name, value]) => [name, wireValue(endpoint.params[name], value)] as const);
  const address = `${url.replace(/\/$/, '')}/api${path}`;
  const common = { accept: 'application/json', ...headers };
  const init: RequestInit = { method: endpoint.method, headers: common };
  if (endpoint.method === 'GET' || endpoint.method === 'DELETE') return { url: address + queryOf(rest), init };
  if (rest.some(([name]) => endpoint.params[name]?.kind === 'file'))
    return { url: address, init: { ...init, body: formOf(rest) } };
  const json = { ...common, 'content-type': 'application/json' };
  return { url: address, init: { ...init, headers: json, body: JSON.stringify(Object.fromEntries(rest)) } };
}

/** Nothing, `.` and `..` would make the address mean another endpoint. */
function pathSegment(name: string, value: unknown): string {
  const text = wireText(value ?? '');
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`${name} must name something; it is '${text}'.`);
  return encodeURIComponent(text);
}

/** A capacity is megabytes as a value, and would be read as gigabytes if it were sent as a bare number. */
function wireValue(param: Param | undefined, value: unknown): unknown {
  return param?.kind === 'capacity' && typeof value === 'number' ? `${value}M` : value;
}

function queryOf(entries: Entries): string {
  if (entries.length === 0) return '';
  const pairs = entries.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(wireText(value))}`);
  return `?${pairs.join('&')}`;
}

function formOf(entries: Entries): FormData {
  const form = new FormData();
  for (const [name, value] of entries) {
    const file = value as Partial<UploadedFile> | null;
    if (file?.bytes) form.append(name, new Blob([Uint8Array.from(file.bytes)]), file.filename ?? name);
    else form.append(name, wireText(value));
  }
  return form;
}

function wireText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface Received {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** Reads the body too, so that an answer cut off half way is a lost connection like any other. */
async function send(
  { url: base, timeoutMs = TIMEOUT_MS_DEFAULT, fetch: fetchWith = fetch }: Connection,
  url: string,
  init: RequestInit,
): Promise<Received> {
  try {
    const answer = await fetchWith(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return { status: answer.status, ok: answer.ok, headers: answer.headers, bytes };
  } catch (error) {
    throw new ConnectionError(base, error, timeoutMs);
  }
}

function isJson({ headers }: Received): boolean {
  return (headers.get('content-type') ?? '').startsWith('application/json');
}

function fileOf({ headers, bytes }: Received): FileBody {
  const filename = /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? 'download';
  return { filename, bytes };
}

type Body = Record<string, unknown>;

function parse({ status, bytes }: Received): Body {
  try {
    const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof body === 'object' && body !== null) return body as Body;
  } catch {
    // Reported below, with everything else that is not the JSON of a Granary service.
  }
  throw new ApiError(status, `The answer (HTTP ${status}) is not JSON; is this the address of a Granary service?`);
}

function portalBody({ ok, status }: Received, body: Body): unknown {
  if (ok) return body;
  const problems = Array.isArray(body['errors']) ? (body['errors'] as { field: string; message: string }[]) : [];
  throw new ApiError(status, messageIn(body) ?? `HTTP ${status}`, problems);
}

function arrayBody(api: Api, endpoint: Endpoint, received: Received, body: Body): unknown {
  const wrapper = endpoint.reply.kind === 'record' ? endpoint.reply.wrapper : undefined;
  const failure = body['response'] as Body | undefined;
  const inner = (wrapper === undefined ? body : ((body[wrapper] as Body | undefined) ?? failure)) ?? body;
  const status = Number(failure?.['status'] ?? inner['status'] ?? 0);
  if (received.ok && status === 0) return inner;
  const message = messageIn(failure) ?? messageIn(inner) ?? `HTTP ${received.status}`;
  if (status !== 0 && status === api.asyncStatus) throw new StillRunning(message);
  throw new ApiError(status || received.status, message);
}

function messageIn(body: Body | undefined): string | undefined {
  const message = body?.['message'];
  return typeof message === 'string' ? message : undefined;
}

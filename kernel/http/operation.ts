import { TLSSocket } from 'node:tls';
import {
  EVENT_STREAM,
  pathParams,
  type Api,
  type Endpoint,
  type FileBody,
  type FileReply,
  type Operation,
} from '@granary/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { markSignedIn } from '../edge/index.ts';
import { assert } from '../assert.ts';
import { fail, GranaryError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { DatabaseError } from '../sqlite/errors.ts';
import { DiskFullError } from '../store/disk-full.ts';
import { runFreeing } from '../store/freeing.ts';
import { acceptedBody, type AcceptedBody, type Raw } from './body.ts';
import { contentTypes, Envelope, errorAnswer, submittedAnswer, type Answer } from './envelope.ts';
import { checkQuery } from './form.ts';
import { refuseForeignPages } from './foreign-pages.ts';
import { formatOf, type Format } from './format.ts';
import type { Idempotency } from './idempotency.ts';
import {
  anonymous,
  Submitted,
  type Actor,
  type AnsweredCall,
  type Browser,
  type Context,
  type CredentialSource,
  type StreamedFile,
} from './types.ts';
import { DATA_PROTECTION } from './protection.ts';
import { REVEAL_HEADER, SecretFields } from './secret-fields.ts';
import { readerOf, type Reader } from './validate.ts';
import { xmlRoot } from './xml-root.ts';

export type AnyHandler = (input: never, context: Context<Actor>) => unknown;

export interface OperationTools {
  readonly api: Api;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly idempotency: Idempotency;
  /** Awaited before a reply: it must not show a change that a power cut could undo. */
  readonly whenDurable: () => Promise<void> | undefined;
  readonly authenticate: (source: CredentialSource) => Soon<Actor | undefined>;
  /** Throws when the caller's role may call, but the caller may not change the object that the parameters name. */
  readonly authorise?: ((actor: Actor, endpoint: Endpoint, input: Raw) => void) | undefined;
  /** Whether the key may be a parameter of the body. Otherwise a body is read only after authentication. */
  readonly credentialsInBody?: boolean | undefined;
  /** Called with the group of each operation that changed something, once that is durable. Must not throw. */
  readonly onChanged?: ((group: string) => void) | undefined;
  /** Records that somebody had secrets shown: `the passcode of array tank`. Resolves when that is durable. */
  readonly onReveal?: ((actor: Actor, what: string) => Promise<void>) | undefined;
  /** Called for every request after its reply was sent. Must not throw. */
  readonly onAnswered?: ((call: AnsweredCall) => void) | undefined;
  /** The message of an error with what only the service knows, such as the names of what it is about. */
  readonly messageOf?: ((error: GranaryError) => string) | undefined;
}

/** The state of a request in progress. */
interface Asking {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly format: Format;
  readonly startMs: number;
  raw: Raw;
  /** The parameters that authenticated the caller, without the body. */
  admittedBy: Raw;
  actor: Actor | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    asking: Asking | undefined;
  }
}

type Soon<T> = T | Promise<T>;
type Fields = Readonly<Record<string, unknown>>;

interface View {
  readonly format: Format;
  readonly isRevealing: boolean;
}

/** How long the authentication at the start of a request is valid. */
const ADMISSION_MS = 1_000;

/** Continues synchronously where there is nothing to await: most requests need no promise. */
function then<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * One endpoint, from request to reply: authenticate, authorise, read the body, validate, act, answer. Everything that
 * depends on the declaration alone is computed once, in the constructor.
 */
export class ServedOperation {
  readonly #operation: Operation;
  readonly #handler: AnyHandler | undefined;
  readonly #tools: OperationTools;
  readonly #read: Reader;
  readonly #root: string;
  readonly #envelope: Envelope | undefined;
  readonly #secrets: SecretFields | undefined;
  readonly #count: (status: number, seconds: number) => void;
  readonly #pathNames: readonly string[];
  readonly body: AcceptedBody;
  readonly #frees: boolean;

  constructor(operation: Operation, handler: AnyHandler | undefined, tools: OperationTools) {
    const { reply, path } = operation.endpoint;
    this.#operation = operation;
    this.#handler = handler;
    this.#tools = tools;
    this.#read = readerOf(operation.endpoint);
    this.#root = xmlRoot(tools.api, operation);
    this.#envelope = reply.kind === 'record' ? new Envelope(tools.api, operation, reply) : undefined;
    this.#secrets = reply.kind === 'record' ? SecretFields.of(reply) : undefined;
    this.#count = tools.metrics.counterOf(operation.id);
    this.#pathNames = pathParams(path);
    this.body = acceptedBody(operation.endpoint);
    this.#frees = operation.endpoint.frees ?? operation.endpoint.method === 'DELETE';
  }

  /** Path parameters by position: the contract's names may contain dashes, at which the router would split. */
  get route(): string {
    let position = 0;
    return `/api${this.#operation.endpoint.path.replace(/\{[^}]+\}/g, () => `:p${position++}`)}`;
  }

  /**
   * Before the body is read: the key in a header or the query decides whether it is read. `proceed` is called unless
   * the request was refused.
   */
  begin(request: FastifyRequest, reply: FastifyReply, proceed: () => void): void {
    const format = formatOf(request);
    const asking: Asking = {
      request,
      reply,
      format,
      startMs: performance.now(),
      raw: {},
      admittedBy: {},
      actor: undefined,
    };
    request.asking = asking;
    try {
      const admitted = this.#admit(asking);
      if (!(admitted instanceof Promise)) proceed();
      else admitted.then(proceed, (error: unknown) => this.#send(asking, this.#failure(error, request, format)));
    } catch (error) {
      this.#send(asking, this.#failure(error, request, format));
    }
  }

  handle(request: FastifyRequest): void {
    const asking = request.asking as Asking;
    const send = (answer: Answer) => this.#send(asking, answer);
    const sendError = (error: unknown) => send(this.#failure(error, request, asking.format));
    try {
      const answer = this.#frees ? runFreeing(true, () => this.#answer(asking)) : this.#answer(asking);
      const durable = then(answer, (given) => then(this.#tools.whenDurable(), () => given));
      if (durable instanceof Promise) durable.then(send, sendError);
      else send(durable);
    } catch (error) {
      sendError(error);
    }
  }

  #send(asking: Asking, answer: Answer): void {
    const { log } = this.#tools;
    const ms = performance.now() - asking.startMs;
    this.#count(answer.status, ms / 1000);
    if (log.isLevelEnabled('debug')) {
      log.debug({ operation: this.#operation.id, status: answer.status, ms: Math.round(ms) }, 'a request was answered');
    }
    sendAnswer(asking.reply, answer, asking.format);
    if (this.#mayHaveChanged(answer)) this.#tools.onChanged?.(this.#operation.group);
    this.#reportAnswered(asking, answer);
  }

  /** An asynchronous result has a code, too: what it is about is being changed. */
  #mayHaveChanged({ code }: Answer): boolean {
    return this.#operation.endpoint.method !== 'GET' && (code === undefined || code === this.#tools.api.asyncStatus);
  }

  #reportAnswered({ request: { ip }, raw: params, actor }: Asking, { code = 0 }: Answer): void {
    try {
      this.#tools.onAnswered?.({ operation: this.#operation, actor, params, ip, code });
    } catch (error) {
      // The reply was sent: an error here must not end the process.
      this.#tools.log.error({ error, operation: this.#operation.id }, 'a call could not be recorded');
    }
  }

  #answer(asking: Asking): Soon<Answer> {
    const { request, format } = asking;
    const raw = this.#rawParams(request);
    asking.raw = raw;
    return then(this.#authorise(asking), (actor) => {
      if (!this.#handler) throw fail('not_served', { operation: this.#operation.id });
      const input = this.#read(raw);
      const authorise = () => this.#tools.authorise?.(actor, this.#operation.endpoint, input);
      authorise();
      const isSignedIn = () => this.#isSignedIn(asking, actor);
      const { ip } = request;
      const browser = browserOf(request);
      const context: Context<Actor> = {
        actor,
        ip,
        browser,
        log: this.#tools.log,
        isSignedIn,
        setCookie: undefined,
        total: undefined,
      };
      const key = this.#idempotencyKey(request);
      const isRevealing = request.headers[REVEAL_HEADER] === '1';
      const act = () => this.#act(input, context, { format, isRevealing });
      if (key === undefined) return act();
      // A stored answer shows what it showed: one for a page is not one for a program.
      const view = !seesLess(actor) ? [] : [isRevealing ? 'revealed' : 'hidden'];
      const asked = { actor: actor.id, key, request: [this.#operation.id, format, input, ...view] };
      return this.#tools.idempotency.once(asked, async () => {
        try {
          // Authorised again: while the key was claimed, the object may have changed its owner.
          authorise();
          return await act();
        } catch (error) {
          return this.#failure(error, request, format);
        }
      });
    });
  }

  /** Where anyone may call, the handler itself authenticates: a stored answer would bypass that, so none is stored. */
  #idempotencyKey({ headers, method }: FastifyRequest): string | undefined {
    const key = headers['idempotency-key'];
    const isKept = method === 'POST' && this.#envelope && this.#operation.endpoint.access.roles !== 'anyone';
    return typeof key === 'string' && isKept ? key : undefined;
  }

  /** Path over body over query: merged on every verb. */
  #rawParams(request: FastifyRequest): Raw {
    const raw: Raw = Object.assign({}, request.query, request.body);
    const params = request.params as Record<string, string>;
    this.#pathNames.forEach((name, position) => (raw[name] = params[`p${position}`]));
    return raw;
  }

  #admit(asking: Asking): Soon<void> {
    const { request } = asking;
    checkQuery(request.url);
    const { access, setsCookie } = this.#operation.endpoint;
    // A page of another origin must not sign its visitors in either, to an account of its own choice.
    if (setsCookie) refuseForeignPages(request.headers);
    if (access.roles === 'anyone') return undefined;
    asking.raw = this.#rawParams(request);
    asking.admittedBy = asking.raw;
    return then(this.#authenticate(asking, asking.raw), (actor) => {
      if (actor) this.#accept(asking, actor);
      else if (!this.#tools.credentialsInBody || !hasBody(request)) throw fail('invalid_credentials');
    });
  }

  #authorise(asking: Asking): Soon<Actor> {
    if (this.#operation.endpoint.access.roles === 'anyone') return anonymous;
    if (asking.actor && performance.now() - asking.startMs < ADMISSION_MS) return asking.actor;
    // The key may be in the body; or reading the body took a while, and the caller may have been signed out since.
    const params = asking.actor ? asking.admittedBy : asking.raw;
    return then(this.#authenticate(asking, params), (actor) => {
      if (!actor) throw fail('invalid_credentials');
      return this.#accept(asking, actor);
    });
  }

  #authenticate({ request }: Asking, params: Raw): Soon<Actor | undefined> {
    const { endpoint } = this.#operation;
    const { headers, ip, socket } = request;
    return this.#tools.authenticate({ headers, params, ip, socket, endpoint });
  }

  async #isSignedIn(asking: Asking, before: Actor): Promise<boolean> {
    const actor = await this.#authenticate(asking, asking.actor ? asking.admittedBy : asking.raw);
    return actor?.id === before.id && actor.role === before.role;
  }

  #accept(asking: Asking, actor: Actor): Actor {
    const { roles } = this.#operation.endpoint.access;
    asking.actor = actor;
    if (!roles.includes(actor.role)) throw fail('not_allowed', { roles: `the role ${rolesText(roles)}` });
    asking.request.isSignedIn = true;
    markSignedIn(asking.request.raw.socket);
    return actor;
  }

  #act(input: unknown, context: Context<Actor>, { format, isRevealing }: View): Soon<Answer> {
    return then(this.#handler?.(input as never, context), (result) => {
      if (result instanceof Submitted) return submittedAnswer(this.#tools.api, result.message, format, this.#root);
      if (!this.#envelope)
        return fileAnswer(result as FileBody | StreamedFile, this.#operation.endpoint.reply as FileReply);
      const envelope = this.#envelope;
      return then(this.#shown(result as Fields, context, isRevealing), (fields) => ({
        status: 200,
        headers: this.#headersOf(context),
        body: envelope.wrap(fields, format),
      }));
    });
  }

  /** What a session sees of a reply: its secrets only where they are asked for. */
  #shown(fields: Fields, { actor }: Context<Actor>, isRevealing: boolean): Soon<Fields> {
    if (!this.#secrets || !seesLess(actor)) return fields;
    if (!isRevealing) return this.#secrets.hide(fields);
    const what = this.#secrets.describe(fields);
    const { onReveal } = this.#tools;
    assert(onReveal, 'a service with sessions records who looks at secrets');
    return what === undefined ? fields : onReveal(actor, what).then(() => fields);
  }

  #headersOf({ total, setCookie }: Context<Actor>): Answer['headers'] {
    if (total === undefined && setCookie === undefined) return undefined;
    assert(
      setCookie === undefined || this.#operation.endpoint.setsCookie,
      'an endpoint that sets a cookie declares it',
    );
    return {
      ...(total !== undefined && { 'x-total-count': total }),
      ...(setCookie !== undefined && { 'set-cookie': setCookie }),
    };
  }

  /** An error outside the catalogue is internal: the caller learns where to look, the log has the details. */
  #failure(error: unknown, request: FastifyRequest, format: Format): Answer {
    const { api, log, messageOf } = this.#tools;
    const { reply } = this.#operation.endpoint;
    if (error instanceof GranaryError) return errorAnswer(api, worded(error, messageOf), format, this.#root, reply);
    if (error instanceof DiskFullError) return errorAnswer(api, fail('disk_full'), format, this.#root, reply);
    if (error instanceof DatabaseError && error.code === 'not-durable') {
      log.error({ error, operation: this.#operation.id }, 'a change could not be made durable');
      return errorAnswer(api, fail('not_durable'), format, this.#root, reply);
    }
    log.error({ error, operation: this.#operation.id, request: request.id }, 'a request failed unexpectedly');
    return errorAnswer(api, fail('internal', { request: request.id }), format, this.#root, reply);
  }
}

/** A proxy that ends TLS leaves the origin of the page, which browsers send with every change. */
function browserOf({ headers, socket }: FastifyRequest): Browser {
  const isSecure = socket instanceof TLSSocket || headers.origin?.startsWith('https://') === true;
  return { userAgent: headers['user-agent'], isSecure };
}

/** Sessions, here or at the portal, see secrets only where they ask for them. */
function seesLess({ sessionId, hidesSecrets }: Actor): boolean {
  return sessionId !== undefined || hidesSecrets === true;
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function rolesText(roles: readonly string[] | 'anyone'): string {
  return roles === 'anyone' ? roles : roles.join(' or ');
}

export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer, format: Format): void {
  reply.code(status).headers(DATA_PROTECTION).header('cache-control', 'no-store');
  reply.header('content-type', contentTypes[format]);
  if (headers) reply.headers(headers);
  reply.send(body);
}

function fileAnswer(file: FileBody | StreamedFile, { contentType }: FileReply): Answer {
  // Not to be saved, and nothing on the way may hold parts of it back.
  if (contentType === EVENT_STREAM && 'stream' in file)
    return { status: 200, headers: { 'content-type': contentType, 'x-accel-buffering': 'no' }, body: file.stream };
  const disposition = `attachment; filename="${file.filename.replace(/[^\w.-]/g, '_')}"`;
  const body = 'stream' in file ? file.stream : file.bytes;
  return { status: 200, headers: { 'content-type': contentType, 'content-disposition': disposition }, body };
}

function worded(error: GranaryError, messageOf: OperationTools['messageOf']): GranaryError {
  if (!messageOf) return error;
  const { entry, problems, headers } = error;
  return new GranaryError(entry, messageOf(error), { problems, headers });
}

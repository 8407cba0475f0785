import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { markSignedIn } from '@granary/kernel/edge';
import type { Bucket } from '@granary/storage/object-store';
import type { DataContext, DataSettings, RequestRecord } from '../objects/context.ts';
import { KEEP_ALIVE } from '../objects/keep-alive.ts';
import type { S3Access } from './access/access.ts';
import { type Address, readAddress } from './address.ts';
import { type Expectations, readExpectations } from './body/expectations.ts';
import { S3RequestBody } from './body/request-body.ts';
import { IncomingSource } from './body/source.ts';
import { CHECKSUM_HEADERS } from './checksums/checksums.ts';
import type { Documents } from './documents.ts';
import { S3Error, toS3Error } from './errors.ts';
import { readForm } from './form/multipart.ts';
import { checkForm, formReply, sizeCheck } from './form/post-object.ts';
import { linesOf } from './logging/request-lines.ts';
import { corsReplyHeaders, preflight } from './operations/buckets/cors.ts';
import { errorReply, ReplyWriter } from './reply-writer.ts';
import type { S3Operation, S3Reply } from './request.ts';
import type { Router } from './routing.ts';
import type { Authentication, Authenticator } from './signature/authenticate.ts';
import { demandOwner, WireRequest } from './wire-request.ts';

/** What all requests share. */
export interface Wire {
  readonly context: DataContext;
  readonly authenticator: Authenticator;
  readonly access: S3Access;
  readonly router: Router;
  readonly documents: Documents;
  /** What a form ends in. */
  readonly postObject: S3Operation;
}

type Described = Pick<S3Operation, 'name' | 'class' | 'subject'>;

const UNKNOWN: Described = { name: 'Unknown', class: 'other', subject: 'service' };
const SERVER = 'Granary';
const PLAIN = { kind: 'plain', sha256: null } as const;

/** One request and its answer, from the first header to the record of it. */
export class Conversation {
  readonly #wire: Wire;
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #writer: ReplyWriter;
  readonly #settings: DataSettings;
  readonly #requestId: string;
  readonly #began = performance.now();
  readonly #now: number;
  readonly #ip: string;
  #receivedAt = 0;
  #errorCode: string | null = null;
  #reply: S3Reply | undefined;
  #address: Address | undefined;
  #operation: Described = UNKNOWN;
  #request: WireRequest | undefined;
  #status = 0;
  #bytesDeleted = 0;
  #isLimited = false;
  /** The record is due when the work is done and the client has its answer, or is gone. */
  #open = 2;

  constructor(wire: Wire, incoming: IncomingMessage, response: ServerResponse, requestId: string) {
    this.#wire = wire;
    this.#incoming = incoming;
    this.#response = response;
    this.#writer = new ReplyWriter(incoming, response, wire.documents);
    this.#settings = wire.context.settings();
    this.#requestId = requestId;
    this.#now = wire.context.now();
    this.#ip = (incoming.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    response.once('close', () => this.#close());
    // A client that hangs up is noticed where its body is read.
    incoming.on('error', () => undefined);
    incoming.once('end', () => (this.#receivedAt = performance.now()));
  }

  async run(): Promise<void> {
    let reply: S3Reply;
    try {
      reply = await this.#answer();
    } catch (error) {
      reply = this.#failure(error);
    }
    this.#reply = reply;
    this.#status = reply.status;
    this.#bytesDeleted = reply.bytesDeleted ?? 0;
    try {
      await this.#writer.send(reply, this.#commonHeaders());
    } catch (error) {
      // Too late for another answer: the client must not take what it has for the whole. What was good before goes out.
      if (!this.#response.destroyed) this.#wire.context.onError(error, this.#requestId);
      this.#incoming.socket.destroySoon();
    }
    this.#close();
  }

  #answer(): Promise<S3Reply> | S3Reply {
    const { method = '', url = '', headers } = this.#incoming;
    const address = readAddress(url, headers.host, this.#settings);
    this.#address = address;
    refuseExpectation(headers.expect);
    if (method === 'OPTIONS') return this.#preflight(address);
    const type = headers['content-type'] ?? '';
    if (method === 'POST' && address.level === 'bucket' && /^multipart\/form-data\b/i.test(type)) {
      return this.#form(address, type);
    }
    const operation = this.#wire.router.find({
      method,
      level: address.level,
      query: address.query,
      header: (name) => textOf(headers[name]),
    });
    this.#operation = operation;
    const { rawHeaders } = this.#incoming;
    const found = this.#wire.authenticator.authenticate({ method, address, headers, rawHeaders }, this.#now);
    if (found instanceof Promise) return found.then((each) => this.#perform(operation, address, each));
    return this.#perform(operation, address, found);
  }

  #perform(operation: S3Operation, address: Address, found: Authentication): Promise<S3Reply> | S3Reply {
    const { caller, payload, chunks, presigned, signedWith } = found;
    if (caller !== null) markSignedIn(this.#incoming.socket);
    const request = this.#newRequest({
      caller,
      signedBy: caller === null ? null : presigned ? 'query' : 'header',
      signedWith,
      address: address.bucket,
      key: address.key,
      query: address.query,
      headers: this.#incoming.headers,
      makeBody: (all) => {
        const header = operation.objectChecksums ? withoutChecksums(all) : all;
        const endless = this.#incoming.headers['transfer-encoding'] !== undefined;
        return new S3RequestBody(this.#source(), readExpectations(header, payload, endless), chunks);
      },
    });
    return this.#execute(operation, request);
  }

  #execute(operation: S3Operation, request: WireRequest): Promise<S3Reply> | S3Reply {
    const { caller, address } = request;
    if (operation.creates || address === null) {
      if (caller === null) throw new S3Error('AccessDenied');
      this.#demandRate(operation, caller.account);
      return operation.run(request);
    }
    const versioned = operation.versionAction !== undefined && request.query.has('versionId');
    const action = versioned ? operation.versionAction : operation.action;
    const key = operation.subject === 'object' ? request.key : null;
    // Elsewhere `versionId` is without meaning, and must not choose the version whose tags and ACL decide.
    request.versionId = versioned ? request.query.get('versionId') : undefined;
    const facts = { versionId: request.versionId };
    const wish = operation.selfChecked ? null : { action, key, facts };
    const bucket = this.#wire.access.open(request, address, wish, operation.asksIfThere);
    request.opened = bucket;
    demandOwner(bucket, request.header('x-amz-expected-bucket-owner'));
    this.#demandRate(operation, bucket.account);
    if (caller?.account === bucket.account) return operation.run(request);
    return this.#wire.access.demandEnabled(request, bucket).then(() => operation.run(request));
  }

  #demandRate(operation: S3Operation, account: string): void {
    if (operation.changes && !this.#wire.context.mayChange(account)) {
      this.#isLimited = true;
      throw new S3Error('SlowDown', undefined, {}, { 'retry-after': '1' });
    }
  }

  /** A browser's form: the policy says who sends it, and the rest is an ordinary PUT. */
  async #form(address: Address, contentType: string): Promise<S3Reply> {
    const { postObject, authenticator } = this.#wire;
    this.#operation = postObject;
    if (this.#incoming.headers['content-length'] === undefined) throw new S3Error('MissingContentLength');
    const form = await readForm(contentType, this.#source().chunks());
    const posted = await checkForm(form, {
      bucket: address.bucket?.name ?? '',
      now: this.#now,
      authenticate: (field, policy) => authenticator.authenticateForm(field, policy),
    });
    const request = this.#newRequest({
      caller: posted.caller,
      signedBy: posted.caller === null ? null : 'form',
      signedWith: posted.signedWith,
      address: address.bucket,
      key: posted.key,
      query: address.query,
      headers: Object.assign(posted.headers, forAccess(this.#incoming.headers)),
      makeBody: (header) => {
        const expected: Expectations = { ...readExpectations(header, PLAIN, false), size: undefined };
        return new S3RequestBody({ chunks: () => form.file() }, expected, null, sizeCheck(posted.range));
      },
    });
    const reply = await this.#execute(postObject, request);
    return formReply(reply, request, form.fields, this.#settings.publicUrl);
  }

  /** The request is not authenticated yet: the oldest bucket of that name that has rules answers. */
  #preflight(address: Address): S3Reply {
    this.#operation = { name: 'PreflightRequest', class: 'other', subject: address.level };
    const { store } = this.#wire.context;
    const { account, name = '' } = address.bucket ?? {};
    const buckets = account === undefined ? store.bucketsNamed(name) : [store.bucket(account, name)];
    const bucket = buckets.find((each) => each?.settings.cors !== undefined);
    return { status: 200, headers: preflight(bucket, (each) => textOf(this.#incoming.headers[each])) };
  }

  #newRequest(parts: NewRequest): WireRequest {
    const { context, access } = this.#wire;
    const request = new WireRequest({
      ...parts,
      context,
      access,
      settings: this.#settings,
      requestId: this.#requestId,
      now: this.#now,
      method: this.#incoming.method ?? '',
      ip: this.#ip,
      secure: 'encrypted' in this.#incoming.socket,
    });
    this.#request = request;
    return request;
  }

  #source(): IncomingSource {
    return new IncomingSource(this.#incoming, () => {
      if (this.#writer.awaitsContinue) this.#response.writeContinue();
    });
  }

  #failure(error: unknown): S3Reply {
    const known = this.#veiled(toS3Error(error)) ?? new S3Error('InternalError');
    this.#errorCode = known.code;
    if (known.status === 500) this.#wire.context.onError(error, this.#requestId);
    const resource = (this.#incoming.url ?? '').split('?', 1)[0] ?? '';
    return errorReply(known, resource, this.#requestId, hostId(this.#settings.arrayName));
  }

  /** Who may not list a bucket does not learn which keys are in it, either. */
  #veiled(error: S3Error | undefined): S3Error | undefined {
    const request = this.#request;
    if (error?.code !== 'NoSuchKey' || !request?.opened) return error;
    return this.#wire.access.mayKnowKeys(request, request.opened) ? error : new S3Error('AccessDenied');
  }

  #commonHeaders(): OutgoingHttpHeaders {
    const { headers, method = '' } = this.#incoming;
    const bucket = this.#request?.opened;
    return {
      'x-amz-request-id': this.#requestId,
      'x-amz-id-2': hostId(this.#settings.arrayName),
      server: SERVER,
      ...(this.#response.shouldKeepAlive && { 'keep-alive': KEEP_ALIVE }),
      ...(headers.origin !== undefined && bucket && corsReplyHeaders(bucket, headers.origin, method)),
    };
  }

  #close(): void {
    if (--this.#open > 0) return;
    const { context } = this.#wire;
    const bucket = this.#request?.opened;
    const caller = this.#request?.caller ?? null;
    context.done({
      requestId: this.#requestId,
      protocol: 's3',
      action: this.#operation.name,
      class: this.#operation.class,
      subject: this.#operation.subject,
      account: bucket?.account ?? caller?.account ?? null,
      user: caller?.user ?? null,
      username: caller?.username ?? null,
      policy: bucket?.policy ?? null,
      bucket: this.#address?.bucket?.name ?? null,
      key: this.#request?.keyName ?? this.#address?.key ?? null,
      status: this.#status,
      ...(this.#isLimited && { isLimited: true }),
      bytesIn: this.#request?.received ?? 0,
      bytesOut: this.#writer.sent,
      bytesDeleted: this.#bytesDeleted,
      milliseconds: performance.now() - this.#began,
      at: this.#now,
      ip: this.#ip,
      ...this.#logged(),
    });
  }

  /** Nearly all buckets keep no log: for those nothing is made. */
  #logged(): Pick<RequestRecord, 'logged'> {
    const reply = this.#reply;
    const bucket = this.#request?.opened ?? this.#refusedBucket();
    const sources = this.#request?.sources ?? [];
    if (bucket?.settings.logging === undefined && !sources.some(({ settings }) => settings.logging)) return {};
    const logged = linesOf({
      incoming: this.#incoming,
      request: this.#request,
      operation: this.#operation.name,
      key: this.#request?.keyName ?? this.#address?.key ?? null,
      bucket,
      sources,
      reply,
      errorCode: this.#errorCode,
      status: this.#status,
      requestId: this.#requestId,
      hostId: hostId(this.#settings.arrayName),
      ip: this.#ip,
      at: this.#now,
      bytesSent: this.#writer.bodyBytes,
      bytesDeleted: this.#bytesDeleted,
      totalMs: performance.now() - this.#began,
      turnAroundMs: Math.max(0, this.#writer.startedAt - Math.max(this.#began, this.#receivedAt)),
    });
    return { logged };
  }

  /** The bucket of a request that was refused: its owner reads of those, too. */
  #refusedBucket(): Bucket | undefined {
    const { account = this.#request?.caller?.account, name } = this.#address?.bucket ?? {};
    if (this.#status < 400 || name === undefined) return undefined;
    const { store } = this.#wire.context;
    const own = account === undefined ? undefined : store.bucket(account, name);
    return own ?? (this.#address?.bucket?.account === undefined ? store.bucketsNamed(name)[0] : undefined);
  }
}

type NewRequest = Omit<
  ConstructorParameters<typeof WireRequest>[0],
  'context' | 'access' | 'settings' | 'requestId' | 'now' | 'method' | 'ip' | 'secure'
>;

function refuseExpectation(expect: string | undefined): void {
  const expected = expect?.trim() ?? '';
  if (expected !== '' && expected.toLowerCase() !== '100-continue') throw new S3Error('ExpectationFailed');
}

/** Headers of the browser's own that policies ask for. */
function forAccess({ referer, 'user-agent': agent }: IncomingMessage['headers']) {
  return { ...(referer !== undefined && { referer }), ...(agent !== undefined && { 'user-agent': agent }) };
}

type HeaderOf = (name: string) => string | undefined;

function withoutChecksums(header: HeaderOf): HeaderOf {
  return (name) =>
    Object.hasOwn(CHECKSUM_HEADERS, name) || name === 'x-amz-sdk-checksum-algorithm' ? undefined : header(name);
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

let known = { name: '', id: '' };

function hostId(arrayName: string): string {
  if (known.name !== arrayName) known = { name: arrayName, id: Buffer.from(arrayName).toString('base64') };
  return known.id;
}

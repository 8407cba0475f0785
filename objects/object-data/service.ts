import { X509Certificate } from 'node:crypto';
import type { ClientRequest, IncomingMessage } from 'node:http';
import {
  fail,
  GranaryError,
  hasBody,
  http,
  refuseRelay,
  relay,
  sentHeaders,
  Underway,
  type HostedConfiguration,
  type OutgoingHead,
  type RelayLimits,
  type StreamExchange,
  type StreamRoute,
} from '@granary/kernel';
import { RequestSigner } from '@granary/protocols/s3/client';
import type { ObjectsActor } from '../actor.ts';
import type { ObjectsTools } from '../tools.ts';
import { findUserByNumber } from '../users/repository.ts';
import type { SealedUser } from '../users/user.ts';

/*
 * /s3 on the management interface: the S3 of the array for users who are signed in there. A request goes on to the
 * array's own data port as it streams, signed with the S3 key of that user, so what they may do is decided where it
 * always is.
 */

interface Parts {
  readonly settings: () => { readonly region: string; readonly sslTermination: boolean };
  readonly certificate: () => Promise<{ readonly cert: string }>;
}

type Tools = Pick<ObjectsTools, 'store' | 'vault' | 'clock' | 'log' | 'configuration' | 'publicUrls'>;
interface Link {
  readonly bucket: string;
  readonly key: string;
  readonly method: 'GET' | 'PUT';
  readonly expires: number;
}

type Head = Pick<OutgoingHead, 'method' | 'path' | 'headers' | 'signal' | 'isFresh'>;

const LIMITS: RelayLimits = { idleMs: 120_000, answerMs: 600_000 };
const PREFIX = '/s3';
const CONNECTIONS_MAX = 512;

const https = process.getBuiltinModule('node:https');
const kept = { plain: new http.Agent(agentOptions(true)), tls: new https.Agent(agentOptions(true)) };
const fresh = { plain: new http.Agent(agentOptions(false)), tls: new https.Agent(agentOptions(false)) };

export class ObjectData {
  readonly route: StreamRoute<ObjectsActor>;
  readonly #tools: Tools;
  readonly #parts: Parts;
  readonly #underway = new Underway();

  constructor(tools: Tools, parts: Parts) {
    this.#tools = tools;
    this.#parts = parts;
    this.route = {
      name: 's3',
      path: '/s3/*',
      serve: (exchange) => this.#underway.run(exchange.actor, (signal) => this.#serve(exchange, signal)),
      refuse: (error, exchange) => refuseRelay(error, exchange, 's3'),
    };
  }

  /** The address of one object, signed with the caller's own key. */
  presign(actor: ObjectsActor, { bucket, key, method, expires }: Link): { url: string; expiresAt: number } {
    const user = this.#user(actor);
    const now = this.#tools.clock.now();
    const url = this.#tools.publicUrls()[0] ?? `http://${this.#host()}`;
    const path = [bucket, ...key.split('/')].map(encodeURIComponent).join('/');
    const headers = { host: new URL(url).host };
    const target = this.#signer(user).presign({ method, target: `/${path}`, headers, seconds: expires }, now);
    return { url: url + target, expiresAt: now + expires * 1000 };
  }

  /** Cuts off what the session has under way. */
  endSession(sessionId: number): void {
    this.#underway.endSession(sessionId);
  }

  /** The same for all a user has under way, but for the session named. */
  endUser(user: string, exceptSession?: number): void {
    this.#underway.endUser(user, exceptSession);
  }

  async #serve({ actor, request, response }: StreamExchange<ObjectsActor>, signal: AbortSignal): Promise<void> {
    const user = this.#user(actor);
    const method = request.method ?? 'GET';
    const target = targetOf(request);
    const sent: Record<string, string> = { ...only(sentHeaders(request.headers)), host: this.#host() };
    const headers = { ...this.#signed(user, { method, target, headers: sent }), ...framing(request) };
    try {
      await relay({
        request,
        response,
        signal,
        limits: LIMITS,
        start: (head) => this.#start({ ...head, method, path: target, headers, isFresh: hasBody(request) }),
      });
    } catch (error) {
      if (error instanceof GranaryError) throw error;
      this.#tools.log.warn({ error }, 'the data port did not answer a request of a user who is signed in');
      const { displayName: name } = this.#tools.configuration();
      throw fail('array_unreachable', { name, address: this.#host() });
    }
  }

  #user({ id }: ObjectsActor): SealedUser {
    const number = /^user:(\d+)$/.exec(id)?.[1];
    const user = number && this.#tools.store.read((db) => findUserByNumber(db, Number(number)));
    if (!user) throw fail('not_allowed', { roles: 'a user of an account, who has an S3 key' });
    return user;
  }

  #signed(user: SealedUser, passed: Parameters<RequestSigner['signPassed']>[0]): Record<string, string> {
    try {
      return this.#signer(user).signPassed(passed, this.#tools.clock.now());
    } catch {
      throw fail('unknown_path', { method: passed.method, path: passed.target.slice(0, 200) });
    }
  }

  #signer({ s3AccessKey: accessKey, s3SecretKeySealed }: SealedUser): RequestSigner {
    const secret = this.#tools.vault.unseal(s3SecretKeySealed);
    return new RequestSigner({ accessKey, secret, region: this.#parts.settings().region });
  }

  #host(): string {
    const { host, port } = placeOf(this.#tools.configuration());
    return `${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  async #start({ method, path, headers, signal, isFresh = false }: Head): Promise<ClientRequest> {
    const place = { ...placeOf(this.#tools.configuration()), method, path, headers: { ...headers } as never, signal };
    const agents = isFresh ? fresh : kept;
    if (!this.#parts.settings().sslTermination) return http.request({ ...place, agent: agents.plain });
    const { cert } = await this.#parts.certificate();
    const own = new X509Certificate(cert);
    return https.request({
      ...place,
      agent: agents.tls,
      ca: [cert],
      allowPartialTrustChain: true,
      // Its own certificate and no other, whatever names an administrator put into it.
      checkServerIdentity: (_, { raw }) => (raw.equals(own.raw) ? undefined : new Error('it is not the data port')),
    });
  }
}

function placeOf({ management, dataPort }: HostedConfiguration): { readonly host: string; readonly port: number } {
  return { host: management.host, port: dataPort };
}

function targetOf({ url = '' }: IncomingMessage): string {
  const target = url.slice(PREFIX.length);
  return target.startsWith('/') ? target : `/${target}`;
}

/** What came in pieces of no stated length goes on so, whatever the method. */
function framing(request: IncomingMessage): Record<string, string> {
  const isChunked = hasBody(request) && request.headers['content-length'] === undefined;
  return isChunked ? { 'transfer-encoding': 'chunked' } : {};
}

function only(headers: Readonly<Record<string, string | string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function agentOptions(keepAlive: boolean) {
  return { keepAlive, maxSockets: CONNECTIONS_MAX, scheduling: 'lifo' as const };
}

import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller, DataContext, DataSettings, RequestRecord } from '../../objects/context.ts';
import { createS3 } from '../index.ts';
import { MemoryStore } from './memory-store.ts';
import { type Signer, signHeaders, type ToSign } from './signer.ts';

export const NOW = Date.parse('2026-11-16T12:34:56Z');
export const TIME = '20261116T123456Z';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Of an error. */
  readonly code: string | undefined;
}

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: Uint8Array | string | undefined;
}

export function person(account: string, username: string, role: Caller['role'] = 'member'): Caller {
  return { account, accountName: `account ${account.slice(0, 1)}`, user: username.padEnd(32, '0'), username, role };
}

export const ALPHA = 'a'.repeat(32);
export const BETA = 'b'.repeat(32);

/** A server of S3 over a store in memory, with two accounts, and a clock that stands still. */
export class S3Rig {
  readonly store = new MemoryStore();
  readonly records: RequestRecord[] = [];
  readonly errors: unknown[] = [];
  readonly disabled = new Set<string>();
  readonly keys = new Map<string, { readonly caller: Caller; readonly secret: string }>([
    ['ALPHAKEY', { caller: person(ALPHA, 'anna'), secret: 'alpha/secret+key' }],
    ['BETAKEY', { caller: person(BETA, 'bert'), secret: 'betasecret' }],
  ]);
  settings: DataSettings = {
    arrayName: 'array',
    region: 'north-1',
    hosts: ['127.0.0.1', 's3.example.test'],
    virtualHosted: true,
    accountNames: false,
    adminAccess: false,
    publicUrl: 'http://s3.example.test',
  };
  now = NOW;
  mayChange = true;
  /** Whether the directory answers by a promise. */
  asynchronous = false;
  readonly #server = createServer({ keepAliveTimeout: 0 });
  #port = 0;

  async start(): Promise<this> {
    const handle = createS3(this.#context());
    this.#server.on('request', handle).on('checkContinue', handle).on('checkExpectation', handle);
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get port(): number {
    return this.#port;
  }

  signer(accessKey = 'ALPHAKEY', over: Partial<Signer> = {}): Signer {
    const secret = this.keys.get(accessKey)?.secret ?? 'unknown';
    return { accessKey, secret, region: 'north-1', host: `127.0.0.1:${this.#port}`, time: TIME, ...over };
  }

  /** Signs and sends. */
  signed(toSign: ToSign, signer = this.signer()): Promise<Answer> {
    return this.send({ ...signHeaders(signer, toSign), body: toSign.body });
  }

  send({ method, url, headers = {}, body }: Sent): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const options = {
        host: '127.0.0.1',
        port: this.#port,
        method,
        path: url,
        headers: { ...length, ...headers },
        agent: false,
      };
      const request = httpRequest(options, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('error', reject);
        response.on('end', () => {
          const whole = Buffer.concat(pieces);
          const code = /<Code>(\w+)<\/Code>/.exec(whole.toString())?.[1];
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: whole, code });
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** The record of the last request, which comes a moment after its answer. */
  async record(count: number): Promise<RequestRecord> {
    while (this.records.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    return this.records[count - 1]!;
  }

  #context(): DataContext {
    const soon = <T>(value: T): T | Promise<T> => (this.asynchronous ? Promise.resolve(value) : value);
    return {
      store: this.store.asStore(),
      directory: {
        byS3Key: (key) => {
          const found = this.keys.get(key);
          if (!found) return soon({ refused: 'unknown' });
          return soon(this.disabled.has(found.caller.account) ? { refused: 'account-disabled' } : found);
        },
        byToken: () => ({ refused: 'unknown' }),
        signIn: async () => ({ refused: 'unknown' }),
        account: (id) => soon({ id, name: id, enabled: !this.disabled.has(id), createdAt: 0, metadata: {} }),
        accountsByMail: () => soon([]),
        notificationSecret: (seed) => soon(`secret of ${seed}`),
        setAccountMetadata: async () => undefined,
      },
      settings: () => this.settings,
      now: () => this.now,
      mayChange: () => this.mayChange,
      done: (record) => void this.records.push(record),
      onError: (error) => void this.errors.push(error),
    };
  }
}

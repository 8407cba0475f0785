import assert from 'node:assert/strict';
import { Agent, request as send, type IncomingHttpHeaders } from 'node:http';
import { encodeKey, signHeaders, type SignedHttp, type ToSign } from './signer.ts';

/** Who signs. */
export interface Keys {
  readonly access: string;
  readonly secret: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The text of the first element of a name. */
  xml(name: string): string | undefined;
  /** Of every element of a name. */
  all(name: string): string[];
}

export interface Call {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** A client that signs with Signature V4 and does nothing else for the caller. */
export class S3Client {
  readonly #origin: URL;
  readonly #keys: Keys | null;
  readonly #region: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(origin: string, keys: Keys | null, region = 'us-east-1') {
    this.#origin = new URL(origin);
    this.#keys = keys;
    this.#region = region;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** `path` is `/bucket/key`, not encoded. */
  call(method: string, path: string, { query = {}, headers = {}, body = '' }: Call = {}): Promise<Answer> {
    const sent = this.#prepared({ method, path: encodeKey(path), query, headers, body });
    const length = method === 'PUT' || method === 'POST' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
    return new Promise((resolve, reject) => {
      const outgoing = send(
        {
          agent: this.#agent,
          host: this.#origin.hostname,
          port: this.#origin.port,
          method,
          path: sent.url,
          headers: { ...length, ...sent.headers },
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () =>
            resolve(answerOf(incoming.statusCode ?? 0, incoming.headers, Buffer.concat(chunks))),
          );
        },
      );
      outgoing.on('error', reject);
      // Node would send the headers in the encoding of a text that follows them.
      outgoing.end(Buffer.from(body));
    });
  }

  #prepared(call: ToSign): Pick<SignedHttp, 'url' | 'headers'> {
    const time = new Date().toISOString().replace(/[-:]|\.\d{3}/g, '');
    const keys = this.#keys ?? { access: 'anonymous', secret: '' };
    const signer = { accessKey: keys.access, secret: keys.secret, region: this.#region, host: this.#origin.host, time };
    const signed = signHeaders(signer, call);
    return this.#keys === null ? { ...signed, headers: { ...call.headers } } : signed;
  }
}

function answerOf(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  const all = (name: string) =>
    [...bytes.toString().matchAll(new RegExp(`<${name}(?: [^>]*)?>(.*?)</${name}>`, 'gs'))].map(([, inner = '']) =>
      inner.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
    );
  return {
    status,
    headers,
    bytes,
    // Only for those who ask: large objects are no text.
    get text() {
      return bytes.toString();
    },
    all,
    xml: (name) => all(name)[0],
  };
}

/** What every test of an answer begins with. */
export function expect(answer: Answer, status: number, code?: string): Answer {
  if (answer.status !== status) assert.equal(answer.status, status, answer.text);
  if (code !== undefined) assert.equal(answer.xml('Code'), code, answer.text);
  return answer;
}

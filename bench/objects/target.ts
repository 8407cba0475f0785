import { hash } from 'node:crypto';
import { SigningKeys } from '../../protocols/s3/signature/signing-key.ts';
import type { HttpAddress } from './connection.ts';

export const BUCKET = 'bench';

/** Of the many small objects that are there to be listed. */
export function listedKey(number: number): string {
  return `listed/${String(number).padStart(7, '0')}`;
}

const REGION = 'us-east-1';
const PAYLOAD = 'UNSIGNED-PAYLOAD';
const SIGNED = 'host;x-amz-content-sha256;x-amz-date';

/** Something that keeps objects, and how it is asked. */
export interface Target {
  readonly name: string;
  readonly address: HttpAddress;
  /** The head of a request for an object. */
  object(method: 'GET' | 'PUT', key: string, bytes: number): string;
  /** The head of a request for 1,000 keys after this one. */
  listing(after: string): string;
}

export interface S3Key {
  readonly access: string;
  readonly secret: string;
}

/** S3 with Signature V4, made anew for every request. */
export class S3Target implements Target {
  readonly name: string;
  readonly address: HttpAddress;
  readonly #host: string;
  readonly #key: S3Key;
  readonly #keys = new SigningKeys();

  constructor(name: string, address: HttpAddress, key: S3Key) {
    this.name = name;
    this.address = address;
    this.#host = `${address.host}:${address.port}`;
    this.#key = key;
  }

  object(method: 'GET' | 'PUT', key: string, bytes: number): string {
    return this.request(method, `/${BUCKET}/${key}`, '', bytes);
  }

  listing(after: string): string {
    return this.request('GET', `/${BUCKET}`, `list-type=2&start-after=${encodeURIComponent(after)}`, 0);
  }

  /** `query` has its parameters in order. */
  request(method: string, path: string, query: string, bytes: number): string {
    const time = timestamp();
    const date = time.slice(0, 8);
    const headers = `host:${this.#host}\nx-amz-content-sha256:${PAYLOAD}\nx-amz-date:${time}\n`;
    const canonical = hash('sha256', `${method}\n${path}\n${query}\n${headers}\n${SIGNED}\n${PAYLOAD}`);
    const scope = `${date}/${REGION}/s3/aws4_request`;
    const { access, secret } = this.#key;
    const key = this.#keys.for(access, secret, { date, region: REGION });
    const signature = key.sign(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${canonical}`);
    return (
      `${method} ${path}${query === '' ? '' : `?${query}`} HTTP/1.1\r\nhost: ${this.#host}\r\n` +
      `x-amz-content-sha256: ${PAYLOAD}\r\nx-amz-date: ${time}\r\nauthorization: AWS4-HMAC-SHA256 ` +
      `Credential=${access}/${scope}, SignedHeaders=${SIGNED}, Signature=${signature}\r\n` +
      `content-length: ${bytes}\r\n\r\n`
    );
  }
}

let known = { second: 0, text: '' };

function timestamp(): string {
  const second = Math.floor(Date.now() / 1000);
  if (known.second !== second) {
    known = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z` };
  }
  return known.text;
}

/** Swift with a token. */
export class SwiftTarget implements Target {
  readonly name: string;
  readonly address: HttpAddress;
  readonly #path: string;
  readonly #head: string;

  constructor(name: string, address: HttpAddress, { path, token }: { readonly path: string; readonly token: string }) {
    this.name = name;
    this.address = address;
    this.#path = path;
    this.#head = `host: ${address.host}:${address.port}\r\nx-auth-token: ${token}\r\n`;
  }

  object(method: 'GET' | 'PUT', key: string, bytes: number): string {
    return this.request(method, `/${BUCKET}/${key}`, bytes);
  }

  listing(after: string): string {
    return this.request('GET', `/${BUCKET}?format=xml&limit=1000&marker=${encodeURIComponent(after)}`, 0);
  }

  request(method: string, path: string, bytes: number): string {
    return `${method} ${this.#path}${path} HTTP/1.1\r\n${this.#head}content-length: ${bytes}\r\n\r\n`;
  }
}

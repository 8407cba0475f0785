import { announceSignedOut, csrfHeaders, type Place } from '../../api/send.ts';
import { isUnset } from './codes.ts';
import { crc32Base64 } from './crc32.ts';
import { completeDocument, deleteDocument, type Victim } from './documents.ts';
import { factsOfObject } from './object-facts.ts';
import type { StoredPart } from './parts.ts';
import { objectPath, type Query } from './paths.ts';
import {
  bucketsOf,
  deletedOf,
  objectsOf,
  partsOf,
  readXml,
  textIn,
  uploadsOf,
  versionsOf,
  xmlIn,
  type Deleted,
  type ListedObject,
  type Page,
  type Version,
} from './replies.ts';
import { headersOf, type Stored } from './stored.ts';

/** A refusal of S3 in its words. */
export class S3Problem extends Error {
  readonly code: string;
  readonly status: number;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'S3Problem';
    this.status = status;
    this.code = code;
  }
}

interface Asked {
  readonly key?: string;
  readonly query?: Query;
  readonly body?: Blob | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Called as bytes of the body leave. */
  readonly onSent?: (bytes: number) => void;
}

interface Answered {
  readonly text: string;
  readonly header: (name: string) => string | null;
}

/** What a setting is of, where it is not of the bucket. */
export interface Of {
  readonly key?: string;
  readonly versionId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

const DELETED_AT_ONCE = 1000;
const LISTED = 1000;

/** S3 under the page's own origin: the service signs, the browser has a session and no key. */
export class S3 {
  readonly base: string;
  /** Who it is for: what the browser remembers of uploads is that person's. */
  readonly person: string;
  /** Of the session it was made in: what goes on for long is refused when another person has signed in meanwhile. */
  readonly #headers = csrfHeaders();

  constructor({ base }: Place, person: string) {
    this.base = base;
    this.person = person;
  }

  /** Where a plain link leads: the browser itself takes the bytes. */
  url(bucket: string, key: string, versionId?: string): string {
    const disposition = 'attachment';
    return objectPath(this.base, bucket, key, { versionId, 'response-content-disposition': disposition });
  }

  async buckets() {
    return bucketsOf(await this.#read('', {}));
  }

  createBucket(bucket: string, isLocked: boolean): Promise<Answered> {
    const headers: Record<string, string> = isLocked ? { 'x-amz-bucket-object-lock-enabled': 'true' } : {};
    return this.#ask('PUT', bucket, { headers });
  }

  deleteBucket(bucket: string): Promise<Answered> {
    return this.#ask('DELETE', bucket, {});
  }

  async objects(bucket: string, prefix: string, after: Query = {}, isFlat = false): Promise<Page<ListedObject>> {
    const query = {
      'list-type': 2,
      prefix,
      ...(!isFlat && { delimiter: '/' }),
      'max-keys': LISTED,
      'encoding-type': 'url',
    };
    return objectsOf(await this.#read(bucket, { query: { ...query, ...after } }));
  }

  async versions(bucket: string, prefix: string, after: Query = {}, isFlat = false): Promise<Page<Version>> {
    const query = {
      versions: '',
      prefix,
      ...(!isFlat && { delimiter: '/' }),
      'max-keys': LISTED,
      'encoding-type': 'url',
    };
    return versionsOf(await this.#read(bucket, { query: { ...query, ...after } }));
  }

  /** Name and value of what is known of an object. */
  async head(bucket: string, key: string, versionId?: string): Promise<readonly (readonly [string, string])[]> {
    const answer = await fetch(objectPath(this.base, bucket, key, { versionId }), {
      method: 'HEAD',
      credentials: 'same-origin',
    });
    if (!answer.ok)
      throw new S3Problem(answer.status, 'HeadObject', `The object cannot be read: HTTP ${answer.status}.`);
    return factsOfObject(answer.headers);
  }

  put(bucket: string, key: string, body: Blob, options: Pick<Asked, 'signal' | 'onSent'>): Promise<Answered> {
    return this.#ask('PUT', bucket, { key, body, headers: { 'content-type': typeOf(body) }, ...options });
  }

  /** Puts an old version in the place of the present one. */
  copy(bucket: string, key: string, versionId: string): Promise<Answered> {
    const source = `/${bucket}/${encodeURIComponent(key)}?versionId=${encodeURIComponent(versionId)}`;
    return this.#ask('PUT', bucket, { key, headers: { 'x-amz-copy-source': source } });
  }

  /** Each on its own: each has a result of its own. */
  async delete(
    bucket: string,
    victims: readonly Victim[],
    onDone: (results: readonly Deleted[]) => void,
  ): Promise<void> {
    for (let at = 0; at < victims.length; at += DELETED_AT_ONCE) {
      const body = deleteDocument(victims.slice(at, at + DELETED_AT_ONCE));
      const headers = { 'content-type': 'application/xml', 'x-amz-checksum-crc32': crc32Base64(body) };
      const { text } = await this.#ask('POST', bucket, { query: { delete: '' }, body, headers });
      onDone(deletedOf(readXml(text)));
    }
  }

  async beginUpload(bucket: string, key: string, type: string): Promise<string> {
    const headers = { 'content-type': type };
    const { text } = await this.#ask('POST', bucket, { key, query: { uploads: '' }, headers });
    return textIn(readXml(text), 'UploadId');
  }

  async putPart(
    at: { readonly bucket: string; readonly key: string; readonly uploadId: string; readonly number: number },
    body: Blob,
    options: Pick<Asked, 'signal' | 'onSent'>,
  ): Promise<StoredPart> {
    const query = { partNumber: at.number, uploadId: at.uploadId };
    const { header } = await this.#ask('PUT', at.bucket, { key: at.key, query, body, ...options });
    return { number: at.number, etag: header('etag') ?? '', size: body.size };
  }

  async parts(bucket: string, key: string, uploadId: string): Promise<StoredPart[]> {
    const found: StoredPart[] = [];
    for (let marker: string | undefined = '0'; marker !== undefined;) {
      const query = { uploadId, 'part-number-marker': marker };
      const { parts, next } = partsOf(await this.#read(bucket, { key, query }));
      found.push(...parts);
      marker = next;
    }
    return found;
  }

  completeUpload(bucket: string, key: string, uploadId: string, parts: readonly StoredPart[]): Promise<Answered> {
    const body = completeDocument(parts);
    return this.#ask('POST', bucket, {
      key,
      query: { uploadId },
      body,
      headers: { 'content-type': 'application/xml' },
    });
  }

  abortUpload(bucket: string, key: string, uploadId: string): Promise<Answered> {
    return this.#ask('DELETE', bucket, { key, query: { uploadId } });
  }

  async uploads(bucket: string) {
    return uploadsOf(await this.#read(bucket, { query: { uploads: '', 'encoding-type': 'url' } }));
  }

  /** A setting of a bucket, such as `policy`, or of an object. */
  async setting(bucket: string, name: string, { key, versionId }: Of = {}): Promise<Stored> {
    const asked = { ...(key !== undefined && { key }), query: { [name]: '', versionId } };
    try {
      const { text, header } = await this.#ask('GET', bucket, asked);
      return { document: text, headers: headersOf(name, header) };
    } catch (error) {
      if (error instanceof S3Problem && isUnset(error.code)) return { document: null, headers: {} };
      throw error;
    }
  }

  /** Undefined takes the document away. */
  setDocument(bucket: string, name: string, document: string | undefined, of: Of = {}): Promise<Answered> {
    const { key, versionId, headers: own } = of;
    const asked = { ...(key !== undefined && { key }), query: { [name]: '', versionId } };
    if (document === undefined) return this.#ask('DELETE', bucket, asked);
    const headers = {
      'content-type': document.startsWith('<') ? 'application/xml' : 'application/json',
      'x-amz-checksum-crc32': crc32Base64(document),
      ...own,
    };
    return this.#ask('PUT', bucket, { ...asked, body: document, headers });
  }

  /** One of the lists of grants that have a name, such as `private`. */
  setAccessList(bucket: string, list: string): Promise<Answered> {
    return this.#ask('PUT', bucket, { query: { acl: '' }, headers: { 'x-amz-acl': list } });
  }

  async #read(bucket: string, asked: Asked): Promise<Element> {
    return readXml((await this.#ask('GET', bucket, asked)).text);
  }

  /** By XMLHttpRequest, because `fetch` does not tell how much of a body has left. */
  #ask(method: string, bucket: string, { key, query, body, headers, signal, onSent }: Asked): Promise<Answered> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(new DOMException('Stopped', 'AbortError'));
        return;
      }
      const request = new XMLHttpRequest();
      request.open(method, objectPath(this.base, bucket, key, query));
      const own = method === 'GET' ? {} : this.#headers;
      for (const [name, value] of Object.entries({ ...own, ...headers })) request.setRequestHeader(name, value);
      if (onSent) request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded));
      const abort = () => request.abort();
      signal?.addEventListener('abort', abort);
      // A signal of a long upload would keep the requests of all its parts.
      request.addEventListener('loadend', () => signal?.removeEventListener('abort', abort));
      request.addEventListener('abort', () => reject(new DOMException('Stopped', 'AbortError')));
      request.addEventListener('error', () => reject(new TypeError('The service does not answer.')));
      request.addEventListener('load', () => {
        const { status, responseText: text } = request;
        // S3 refuses with 403: by 401 the service says that nobody is signed in any more.
        if (status === 401) announceSignedOut();
        const problem = problemIn(status, text);
        if (problem) reject(problem);
        else resolve({ text, header: (name) => request.getResponseHeader(name) });
      });
      request.send(body ?? null);
    });
  }
}

function typeOf({ type }: Blob): string {
  return type === '' ? 'application/octet-stream' : type;
}

/** A long copy or completion may answer 200 and say in its document that it failed. */
function problemIn(status: number, text: string): S3Problem | undefined {
  const isFine = status >= 200 && status < 300;
  if (isFine && !/^\s*(?:<\?xml[^>]*>)?\s*<Error[\s>]/.test(text)) return undefined;
  const root = text.includes('<Error') ? xmlIn(text) : undefined;
  const message = root && textIn(root, 'Message');
  return new S3Problem(
    status,
    (root && textIn(root, 'Code')) || 'Unknown',
    message || messageIn(text) || `HTTP ${status}`,
  );
}

function messageIn(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Bucket } from '@granary/storage/object-store';
import type { Caller, DataContext, DataSettings } from '../objects/context.ts';
import type { S3Access, Wish } from './access/access.ts';
import type { AskingRequest } from './access/request-keys.ts';
import type { S3RequestBody } from './body/request-body.ts';
import { S3Error } from './errors.ts';
import type { AccessFacts, BucketAddress, OpenedBucket, S3Query, S3Request } from './request.ts';

export interface RequestParts {
  readonly context: DataContext;
  readonly access: S3Access;
  readonly settings: DataSettings;
  readonly requestId: string;
  readonly now: number;
  readonly method: string;
  readonly ip: string;
  readonly secure: boolean;
  readonly caller: Caller | null;
  readonly signedBy: AskingRequest['signedBy'];
  readonly signedWith: AskingRequest['signedWith'];
  readonly address: BucketAddress | null;
  readonly key: string | null;
  readonly query: S3Query;
  readonly headers: IncomingHttpHeaders;
  readonly makeBody: (header: (name: string) => string | undefined) => S3RequestBody;
}

/** Clients that presign put headers into the query; these are about a body that was not known then. */
const NEVER_IN_QUERY = /^x-amz-(?:checksum-|sdk-checksum-|trailer$|decoded-content-length$|content-sha256$)/;
/** Signature V2 signs these wherever they stand, so they hold wherever they stand. */
const IN_OLD_QUERY = /^content-(?:md5|type)$/;

/** A request as operations see it, whether it came plainly or as a form. */
export class WireRequest implements S3Request, AskingRequest {
  readonly #parts: RequestParts;
  readonly context: DataContext;
  readonly settings: DataSettings;
  readonly requestId: string;
  readonly now: number;
  readonly method: string;
  readonly ip: string;
  readonly secure: boolean;
  readonly caller: Caller | null;
  readonly signedBy: AskingRequest['signedBy'];
  readonly signedWith: AskingRequest['signedWith'];
  readonly address: BucketAddress | null;
  readonly query: S3Query;
  readonly headers: IncomingHttpHeaders;
  /** Set once the bucket was found. */
  opened: Bucket | null = null;
  /** The version of its object that it is about, if it is one that can be; set with the bucket. */
  versionId: string | undefined;
  #body: S3RequestBody | undefined;
  /** Other buckets that were read: sources of copies. */
  readonly sources: Bucket[] = [];

  constructor(parts: RequestParts) {
    this.#parts = parts;
    this.context = parts.context;
    this.settings = parts.settings;
    this.requestId = parts.requestId;
    this.now = parts.now;
    this.method = parts.method;
    this.ip = parts.ip;
    this.secure = parts.secure;
    this.caller = parts.caller;
    this.signedBy = parts.signedBy;
    this.signedWith = parts.signedWith;
    this.address = parts.address;
    this.query = parts.query;
    this.headers = parts.headers;
  }

  get bucket(): Bucket {
    if (!this.opened) throw new S3Error('NoSuchBucket');
    return this.opened;
  }

  get key(): string {
    if (this.#parts.key === null) throw new S3Error('InvalidRequest', 'The request names no key.');
    return this.#parts.key;
  }

  /** Of the path or the form; null at other levels. */
  get keyName(): string | null {
    return this.#parts.key;
  }

  header(name: string): string | undefined {
    const value = this.headers[name];
    if (typeof value === 'string') return name === 'content-encoding' ? withoutChunking(value) : value;
    if (Array.isArray(value)) return value.join(', ');
    return this.signedBy === 'query' && this.#mayStandInQuery(name) ? this.#hoisted(name) : undefined;
  }

  headerNames(): Iterable<string> {
    const names = new Set(Object.keys(this.headers));
    for (const each of this.signedBy === 'query' ? this.query.names() : []) {
      if (this.#mayStandInQuery(each.toLowerCase())) names.add(each.toLowerCase());
    }
    return names;
  }

  get body(): S3RequestBody {
    return (this.#body ??= this.#parts.makeBody((name) => this.header(name)));
  }

  /** Bytes of object data that came. */
  get received(): number {
    return this.#body?.received ?? 0;
  }

  may(action: string, key?: string, facts?: AccessFacts): boolean {
    return this.#parts.access.may(this, this.bucket, this.#wish(action, key, facts));
  }

  demand(action: string, key?: string, facts?: AccessFacts): void {
    this.#parts.access.demand(this, this.bucket, this.#wish(action, key, facts));
  }

  /** Without a key of its own it is about the object of the request, in the version that the request names. */
  #wish(action: string, key: string | undefined, facts: AccessFacts | undefined): Wish {
    if (key !== undefined) return { action, key, facts };
    return { action, key: this.#parts.key, facts: facts ?? { versionId: this.versionId } };
  }

  async open(address: BucketAddress, action: string, key: string, facts?: AccessFacts): Promise<OpenedBucket> {
    const { access } = this.#parts;
    const bucket = access.open(this, address, { action, key, facts });
    await access.demandEnabled(this, bucket);
    demandOwner(bucket, this.header('x-amz-source-expected-bucket-owner'));
    this.sources.push(bucket);
    return {
      bucket,
      demand: (wanted) => access.demand(this, bucket, { action: wanted, key, facts }),
      mayList: () => access.mayKnowKeys(this, bucket),
    };
  }

  #mayStandInQuery(name: string): boolean {
    if (name.startsWith('x-amz-')) return !NEVER_IN_QUERY.test(name);
    return this.signedWith === 'AWS' && IN_OLD_QUERY.test(name);
  }

  /** In the form that Node gives headers: one character for each byte. */
  #hoisted(name: string): string | undefined {
    for (const each of this.query.names()) {
      if (each.toLowerCase() === name) return headerText(name, this.query.get(each) ?? '');
    }
    return undefined;
  }
}

/** A text of another place as a header's value: its bytes in UTF-8, one character each. */
export function headerText(name: string, text: string): string {
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(text)) {
    throw new S3Error('InvalidArgument', `${name} must not hold control characters.`, { ArgumentName: name });
  }
  return Buffer.from(text, 'utf8').toString('latin1');
}

export function demandOwner(bucket: Bucket, expected: string | undefined): void {
  if (expected === undefined || expected === bucket.account) return;
  throw new S3Error('AccessDenied', 'The bucket does not belong to the account that was expected.');
}

/** How the bytes travelled is not how they are stored. */
function withoutChunking(value: string): string | undefined {
  const left = value.split(',').filter((coding) => coding.trim().toLowerCase() !== 'aws-chunked');
  return left.length === 0 ? undefined : left.join(',').trim();
}

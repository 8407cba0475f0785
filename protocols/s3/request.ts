import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Bucket, Cause, Checksum, ObjectEvent } from '@granary/storage/object-store';
import type { Caller, DataContext, DataSettings, RequestClass } from '../objects/context.ts';

export type Level = 'service' | 'bucket' | 'object';

/** Parameters behind the question mark, decoded once. A name that stands there without a value has the value ''. */
export interface S3Query {
  has(name: string): boolean;
  /** The first of that name. */
  get(name: string): string | undefined;
  names(): Iterable<string>;
}

/**
 * The bytes a client sends, decoded (no chunk signatures, no trailers). What the client says of them (Content-MD5,
 * x-amz-content-sha256, x-amz-checksum-*, trailers, signatures of chunks, the length) is verified before the end is
 * reported: a reader that sees the end may commit. They can be read once.
 */
export interface S3Body {
  /** Undefined only where the length is not known beforehand: files of POST forms. */
  readonly size: number | undefined;
  /** The whole of it, for bodies up to `limit` (default 64 KiB): EntityTooLarge beyond. Counts as object data. */
  bytes(limit?: number): Promise<Uint8Array>;
  /** Counts as object data. Throws an S3Error instead of ending when something does not fit. */
  stream(): AsyncIterable<Uint8Array>;
  /** XML or JSON of the request, not object data, up to `limit` bytes (default 2 MiB): MalformedXML if it is not UTF-8. */
  text(limit?: number): Promise<string>;
  /** Asks for one more checksum to be computed; call it before reading. The one the client names is computed anyway. */
  compute(algorithm: Checksum['algorithm']): void;
  /** After the end. */
  result(): BodyResult;
}

export interface BodyResult {
  readonly size: number;
  /** MD5, 32 hex digits. */
  readonly md5: string;
  /** What the client sent (header or trailer, verified) or what was asked for by `compute`; null without either. */
  readonly checksum: Checksum | null;
}

/** Whose bucket, where `/<account id>:<bucket>` said so. */
export interface BucketAddress {
  readonly account?: string;
  readonly name: string;
}

export interface S3Request {
  readonly context: DataContext;
  readonly settings: DataSettings;
  readonly requestId: string;
  /** Milliseconds since 1970, when the request began. */
  readonly now: number;
  readonly method: string;
  readonly ip: string;
  /** Over TLS. */
  readonly secure: boolean;
  /** Null for anonymous callers. */
  readonly caller: Caller | null;
  /** As the path or the host names it; null at the level of the service. */
  readonly address: BucketAddress | null;
  /** The bucket, found and opened for the operation's action; throws NoSuchBucket for operations with `creates`. */
  readonly bucket: Bucket;
  /** The key of the path; throws at other levels than that of objects. */
  readonly key: string;
  readonly query: S3Query;
  readonly headers: IncomingHttpHeaders;
  /** By lower-case name; x-amz-* of presigned addresses stand in the query and are found here, too. */
  header(name: string): string | undefined;
  /** In lower case, those of presigned addresses among them. */
  headerNames(): Iterable<string>;
  readonly body: S3Body;
  /** Throws AccessDenied unless the caller may do that to this key of the bucket (default: the request's own key). */
  demand(action: string, key?: string, facts?: AccessFacts): void;
  may(action: string, key?: string, facts?: AccessFacts): boolean;
  /** Finds another bucket (the source of a copy) and opens it for an action: NoSuchBucket or AccessDenied. */
  open(address: BucketAddress, action: string, key: string, facts?: AccessFacts): Promise<OpenedBucket>;
}

export interface OpenedBucket {
  readonly bucket: Bucket;
  /** Another action on the same key of this very bucket; its name is not looked up again. Throws AccessDenied. */
  readonly demand: (action: string) => void;
  /** Whether the caller may know which keys are in it. */
  readonly mayList: () => boolean;
}

/** The version an action is about, where it is not the current one. */
export interface AccessFacts {
  readonly versionId?: string | undefined;
  /** The object is being written by this very request. */
  readonly uploads?: true;
}

export interface S3Reply {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  /**
   * A string is a document (XML unless content-type says otherwise), and so is a list of strings, for long ones; bytes
   * are object data and are metered. With an iterable, give content-length. Not sent to HEAD, but give the headers all
   * the same.
   */
  readonly body?: string | readonly string[] | Uint8Array | AsyncIterable<Uint8Array>;
  /** Bytes of the object that went, for deletions. */
  readonly bytesDeleted?: number;
  /** Of a request about many keys: what became of each, for the log of the bucket. */
  readonly outcomes?: readonly KeyOutcome[];
}

export interface KeyOutcome {
  readonly key: string;
  readonly versionId: string | undefined;
  readonly status: number;
  readonly code: string | null;
  readonly size: number;
}

export interface S3Operation {
  /** `GetObject`. */
  readonly name: string;
  readonly class: RequestClass;
  readonly subject: Level;
  /** What bucket policies call it: `s3:GetObject`. With `versionId` in the query `versionAction` is asked for instead. */
  readonly action: string;
  readonly versionAction?: string;
  /** Changes something: refused while the account is over its rate. */
  readonly changes: boolean;
  /** The bucket need not be there (CreateBucket). */
  readonly creates?: true;
  /** Asks whether the caller has a bucket of that name (HeadBucket): for those of others that are not shared, it has none. */
  readonly asksIfThere?: true;
  /** Access is asked for key by key with `demand` or `may` (DeleteObjects); the bucket itself only has to be found. */
  readonly selfChecked?: true;
  /** x-amz-checksum-* headers speak of the object that comes of it, not of the body (CompleteMultipartUpload). */
  readonly objectChecksums?: true;
  run(request: S3Request): Promise<S3Reply> | S3Reply;
}

/** One row of the routing table. The first row whose query parameter or header is there wins; plain ones come last. */
export interface Route {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly level: Level;
  /** Query parameters that must be there: `['uploadId', 'partNumber']`. */
  readonly query?: readonly string[];
  /** With one of these values: `{ 'list-type': '2' }`. */
  readonly queryValue?: Readonly<Record<string, string>>;
  /** A header that must be there: `x-amz-copy-source`. */
  readonly header?: string;
  readonly operation: S3Operation;
}

/** The request as the reason of a change; `event` where the change alone does not tell what it is called. */
export function causeOf({ caller, ip, requestId }: S3Request, event?: ObjectEvent): Cause {
  return { ...(event !== undefined && { event }), user: caller?.user ?? null, ip, requestId };
}

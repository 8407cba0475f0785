import type { Commit, NewContent } from './operations.ts';
import type {
  AccountUsage,
  Bucket,
  ListedObject,
  ListedVersion,
  ObjectVersion,
  Part,
  PolicyLayout,
  Upload,
} from './records.ts';

export interface Listing {
  readonly objects: readonly ListedObject[];
  /** What keys up to the next delimiter have in common, that delimiter included. */
  readonly prefixes: readonly string[];
  /** The listing goes on after this; null at the end. It is the last key or prefix listed. */
  readonly next: string | null;
}

export interface ListQuery {
  readonly prefix: string;
  readonly delimiter: string | null;
  /** Keys after this one (exclusive); with a delimiter, keys that begin with it are skipped when it is a prefix that was listed. */
  readonly after: string | null;
  /** Swift: keys before this one. */
  readonly before?: string | null;
  /** Swift: greatest key first. `after` and `before` then follow that order, too: keys less than `after`, greater than `before`. */
  readonly reverse?: boolean;
  /** Objects and prefixes together. */
  readonly limit: number;
}

export interface VersionListing {
  /** Newest first within a key, delete markers included. */
  readonly versions: readonly ListedVersion[];
  readonly prefixes: readonly string[];
  readonly next: { readonly key: string; readonly versionId: string | null } | null;
}

export interface StageOptions {
  /** With a key of the array's, also where it does not encrypt everything. */
  readonly encrypt?: boolean;
}

export interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * What protocols see of object storage, in whichever thread they run. Reads of the index are synchronous and see every
 * change that was acknowledged before them, by any thread.
 */
export interface ObjectStore {
  readonly policies: readonly PolicyLayout[];
  /** Index of the policy of new buckets; null while the array has none. */
  readonly defaultPolicy: number | null;
  /** Whether all bytes that are written now are encrypted. */
  readonly isEncrypting: boolean;
  /** Whether those are that are staged so. */
  readonly canEncrypt: boolean;
  /** Every change: see `Operations`. */
  readonly commit: Commit;

  bucket(account: string, name: string): Bucket | undefined;
  bucketById(id: number): Bucket | undefined;
  /** Of all accounts, oldest first: for callers who do not say whose they mean. */
  bucketsNamed(name: string): Bucket[];
  /** In order of their names. */
  buckets(
    account: string,
    page: {
      readonly prefix?: string;
      readonly after?: string;
      readonly before?: string;
      readonly reverse?: boolean;
      readonly limit: number;
    },
  ): Bucket[];
  usage(account: string): AccountUsage;

  /** The current version (a delete marker is none), or that of an id: `null` is one, too. */
  version(bucket: number, key: string, versionId?: string): ObjectVersion | undefined;
  /** The newest entry of a key even if it is a delete marker. */
  latest(bucket: number, key: string): ObjectVersion | undefined;
  list(bucket: number, query: ListQuery): Listing;
  listVersions(
    bucket: number,
    query: {
      readonly prefix: string;
      readonly delimiter: string | null;
      readonly after: { readonly key: string; readonly versionId: string | null } | null;
      readonly limit: number;
    },
  ): VersionListing;

  upload(id: string): Upload | undefined;
  uploads(
    bucket: number,
    query: {
      readonly prefix: string;
      readonly delimiter: string | null;
      readonly after: { readonly key: string; readonly id: string | null } | null;
      readonly limit: number;
    },
  ): {
    readonly uploads: readonly Upload[];
    readonly prefixes: readonly string[];
    readonly next: { readonly key: string; readonly id: string | null } | null;
  };
  parts(upload: string, page: { readonly after: number; readonly limit: number }): Part[];

  /**
   * Accepts bytes under a policy; they are invisible until a commit names them, and durable with it at the latest.
   * Chunks of a body need last only until the next is asked for. Bytes in one piece are the store's from then on: a commit
   * may take them to another thread.
   */
  stage(
    policy: number,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    size?: number,
    options?: StageOptions,
  ): Promise<NewContent>;
  /** Whether the bytes of a version are encrypted with a key of the array's. */
  isEncrypted(version: ObjectVersion): boolean;
  /**
   * The bytes, verified; rejects in the middle if too many pieces are damaged. Those under a key of a client's are refused,
   * unless the reader has taken the seal off the version (`withoutSeal`) and decrypts them.
   */
  read(version: ObjectVersion, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** The same for small ranges in one piece: no iterator, no stream. */
  readWhole(version: ObjectVersion, range?: ByteRange): Promise<Uint8Array>;
}

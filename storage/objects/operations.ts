import type { BucketSettings } from './bucket-settings.ts';
import type { Cause } from './notifications.ts';
import type {
  Bucket,
  Checksum,
  Content,
  ObjectAttributes,
  ObjectVersion,
  Part,
  Replication,
  Retention,
  StagedBlob,
  Upload,
  Versioning,
  WrittenVersion,
} from './records.ts';

/**
 * Bytes of a new version: staged ones, those that come along and are staged on the way to the index (`stagingCommit`), or
 * those of a version that is there already (shared, not copied). Bytes that come along belong to the commit.
 */
export type NewContent =
  | { readonly kind: 'empty' }
  | { readonly kind: 'staged'; readonly blobs: readonly StagedBlob[] }
  | { readonly kind: 'bytes'; readonly policy: number; readonly bytes: Uint8Array; readonly encrypt?: boolean }
  | { readonly kind: 'copy'; readonly of: Pick<ObjectVersion, 'bucket' | 'key' | 'sequence'> };

/** Which change that is passed on elsewhere. */
type ReplicationName = Pick<Replication, 'bucket' | 'key' | 'number'>;

/** Checked in the transaction that makes the change, so that two callers cannot both win. */
export interface Conditions {
  /** ETag that the current version must have; `*` any. */
  readonly ifMatch?: string;
  /** ETag that the current version must not have; `*` none at all. */
  readonly ifNoneMatch?: string;
  readonly ifUnmodifiedSince?: number;
  readonly ifSize?: number;
  /** Sequence that the current version must have: for a caller that decided by a version read before. */
  readonly ifSequence?: number;
  /** Only while something newer hides it. For deletions of a version by its id. */
  readonly ifNoncurrent?: true;
}

/**
 * All changes of the index, as plain data that crosses threads. Each is one step of a transaction: done whole or not
 * at all, durable when its promise resolves. `at` is the caller's clock in milliseconds.
 */
export interface Operations {
  createBucket: {
    readonly args: {
      readonly account: string;
      readonly name: string;
      readonly policy: number;
      readonly lockable: boolean;
      readonly settings: BucketSettings;
      readonly at: number;
    };
    readonly result: Bucket;
  };
  /** Settings given as `undefined` are removed; others replace. */
  changeBucket: {
    readonly args: {
      readonly bucket: number;
      readonly versioning?: Exclude<Versioning, 'off'>;
      readonly lockable?: true;
      readonly settings?: { readonly [K in keyof BucketSettings]?: BucketSettings[K] | undefined };
      /** What the caller decided by: refused when the bucket has changed since it was read. */
      readonly seen?: Pick<Bucket, 'settings' | 'versioning'>;
      /** Each of its rules for notifications reports that it was set. */
      readonly testsNotifications?: Cause;
      readonly at: number;
    };
    readonly result: Bucket;
  };
  /** Only an empty one, and one without unfinished uploads unless `force` drops them. */
  deleteBucket: {
    readonly args: { readonly bucket: number; readonly force?: boolean; readonly at: number };
    readonly result: null;
  };
  putObject: {
    readonly args: {
      readonly bucket: number;
      readonly key: string;
      readonly content: NewContent;
      readonly size: number;
      readonly etag: string;
      readonly owner: string;
      readonly attributes: ObjectAttributes;
      /** Absent: the bucket's default applies. */
      readonly retention?: Retention | null;
      readonly legalHold?: boolean;
      readonly expiresAt?: number | null;
      readonly conditions?: Conditions;
      readonly cause?: Cause;
      readonly at: number;
    };
    readonly result: WrittenVersion;
  };
  /** Without `versionId`: a delete marker in a versioned bucket, the object itself elsewhere. Nothing there is no error. */
  deleteObject: {
    readonly args: {
      readonly bucket: number;
      readonly key: string;
      readonly versionId?: string;
      readonly bypassGovernance?: boolean;
      /** Not passed on to where the bucket is replicated to. */
      readonly unreplicated?: boolean;
      readonly conditions?: Conditions;
      readonly cause?: Cause;
      readonly at: number;
    };
    readonly result: {
      /** What went or was hidden; null when there was nothing. */
      readonly removed: ObjectVersion | null;
      /** The delete marker that was made or removed. */
      readonly marker: { readonly versionId: string } | null;
    };
  };
  /**
   * Replaces what is named; retention may be lengthened, or shortened with `bypassGovernance`. Attributes given as
   * `undefined` are removed, and those that are not named stay: two callers that change different ones both succeed.
   */
  changeVersion: {
    readonly args: {
      readonly bucket: number;
      readonly key: string;
      readonly versionId?: string;
      readonly attributes?: { readonly [K in keyof ObjectAttributes]?: ObjectAttributes[K] | undefined };
      readonly retention?: Retention | null;
      readonly legalHold?: boolean;
      readonly expiresAt?: number | null;
      readonly bypassGovernance?: boolean;
      /** Reported only where it names an event: most changes of a version are none. */
      readonly cause?: Cause;
      readonly at: number;
    };
    readonly result: ObjectVersion;
  };
  /**
   * The bytes of a version are under another storage policy now; everything else of it stays. Refused when it is not the
   * version that was seen, with the bytes that were seen.
   */
  moveVersion: {
    readonly args: {
      readonly bucket: number;
      readonly key: string;
      readonly sequence: number;
      /** Where its bytes were when they were read. */
      readonly seen: Content;
      readonly policy: number;
      readonly content: NewContent;
      readonly at: number;
    };
    readonly result: null;
  };
  createUpload: {
    readonly args: Omit<Upload, 'id' | 'createdAt'> & { readonly at: number };
    readonly result: Upload;
  };
  putPart: {
    readonly args: {
      readonly upload: string;
      readonly bucket: number;
      readonly key: string;
      readonly number: number;
      readonly content: NewContent;
      readonly size: number;
      readonly etag: string;
      readonly checksum: Checksum | null;
      /** Where its encryption starts, of an upload under a key of the client's. */
      readonly start?: string | null;
      readonly at: number;
    };
    readonly result: Part;
  };
  /** Parts in ascending order with the ETags they were answered with. All but the last have at least 5 MiB. */
  completeUpload: {
    readonly args: {
      readonly upload: string;
      readonly bucket: number;
      readonly key: string;
      readonly parts: readonly { readonly number: number; readonly etag: string; readonly checksum?: string }[];
      readonly checksum: Checksum | null;
      readonly conditions?: Conditions;
      readonly cause?: Cause;
      readonly at: number;
    };
    readonly result: WrittenVersion;
  };
  abortUpload: {
    readonly args: { readonly upload: string; readonly bucket: number; readonly key: string; readonly at: number };
    readonly result: null;
  };
  /** A change was passed on, or is given up; `status` is what its version says from now on. */
  endReplication: {
    readonly args: ReplicationName & {
      readonly status: Exclude<ObjectAttributes['replication'], undefined> | null;
      readonly at: number;
    };
    readonly result: null;
  };
  /** A change could not be passed on and is tried again. */
  postponeReplication: {
    readonly args: ReplicationName & { readonly until: number };
    readonly result: null;
  };
  /** A multipart upload was begun for a change: the next attempt aborts that one first. */
  setReplicationUpload: {
    readonly args: ReplicationName & { readonly upload: string | null };
    readonly result: null;
  };
  /** Notifications were delivered, or are given up. */
  endNotifications: {
    readonly args: { readonly numbers: readonly number[] };
    readonly result: null;
  };
  /** A notification could not be delivered and is tried again. */
  postponeNotification: {
    readonly args: { readonly number: number; readonly until: number };
    readonly result: null;
  };
  /** Gives up the oldest of what waits for an address, beyond the limit; says how many that were. */
  trimNotifications: {
    readonly args: { readonly address: string; readonly keep: number };
    readonly result: number;
  };
  /** Removes up to `limit` versions, uploads and empty buckets of an account; says how many are left to remove. */
  purgeAccount: {
    readonly args: { readonly account: string; readonly limit: number; readonly at: number };
    readonly result: { readonly removed: number; readonly done: boolean };
  };
  /** Forgets what an account stored over time; what it stores now stays known. */
  dropUsage: {
    readonly args: { readonly account: string };
    readonly result: null;
  };
}

export type OperationName = keyof Operations;
export type Arguments<O extends OperationName> = Operations[O]['args'];
export type Result<O extends OperationName> = Operations[O]['result'];

/** Makes a change durable; rejects with an `ObjectError` when it is refused. */
export type Commit = <O extends OperationName>(operation: O, args: Arguments<O>) => Promise<Result<O>>;

/** What S3 and Swift clients set on a bucket; kept as JSON. A field that is absent was never set or was removed. */
export interface BucketSettings {
  /** User id of who made it. */
  readonly owner?: string;
  /** A canned ACL. */
  readonly acl?: string;
  /** In its place where the list is none of the canned ones: every grant as it was given. */
  readonly grants?: readonly Grant[];
  readonly publicAccessBlock?: PublicAccessBlock;
  readonly ownership?: ObjectOwnership;
  /** Everything that is put is encrypted with a key of the array's. */
  readonly encryption?: { readonly algorithm: 'AES256'; readonly bucketKey?: true };
  /** Bucket policy, JSON text as it was put. */
  readonly policy?: string;
  readonly cors?: readonly CorsRule[];
  readonly lifecycle?: readonly LifecycleRule[];
  /** Rules move only objects of 128 KiB or more that say nothing of sizes. */
  readonly transitionsSpareSmall?: true;
  readonly tags?: Readonly<Record<string, string>>;
  readonly lockDefault?: { readonly mode: 'GOVERNANCE' | 'COMPLIANCE'; readonly days: number };
  /** Swift: X-Container-Meta-*, by lower-case name. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Swift: X-Container-Read and X-Container-Write. */
  readonly read?: string;
  readonly write?: string;
  /** Swift: limits of the container. */
  readonly quotaBytes?: number;
  readonly quotaObjects?: number;
  /** Swift: another container keeps what is overwritten or deleted here (X-Versions-Location, X-History-Location). */
  readonly legacyVersions?: LegacyVersions;
  /** Swift: ids of the accounts that `read` and `write` name, as the names were when they were set. */
  readonly aclAccounts?: Readonly<Record<string, string>>;
  readonly replication?: ReplicationRule;
  readonly notifications?: Notifications;
  readonly logging?: AccessLogging;
}

/** Where changes of objects are posted to. */
export interface Notifications {
  /** The secret that signs them is made of it and of a key of the array's. */
  readonly seed: string;
  readonly rules: readonly NotificationRule[];
}

export interface NotificationRule {
  readonly id: string;
  /** `http(s)://…` */
  readonly address: string;
  /** As they were given: `s3:ObjectCreated:Put`, `s3:ObjectCreated:*`. */
  readonly events: readonly string[];
  readonly prefix?: string;
  readonly suffix?: string;
}

/** Requests to the bucket are written down in objects of another one of its account. */
export interface AccessLogging {
  readonly targetBucket: string;
  readonly targetPrefix: string;
  /** Of the objects that are written. */
  readonly grants?: readonly Grant[];
  /** How they are named; absent as it was not given: the simple form. */
  readonly keyFormat?: 'simple' | 'event-time' | 'delivery-time';
}

export interface LegacyVersions {
  readonly container: string;
  /** `stack`: a deletion brings back what was there before. `history`: it keeps that, too, and marks the deletion. */
  readonly mode: 'stack' | 'history';
}

export type Permission = 'FULL_CONTROL' | 'READ' | 'WRITE' | 'READ_ACP' | 'WRITE_ACP';

export interface Grant {
  /** Id of an account; `everyone`, or `signed` for all users of all accounts. */
  readonly to: string;
  readonly permission: Permission;
}

/** Each takes effect while it is true. */
export interface PublicAccessBlock {
  readonly blockPublicAcls: boolean;
  readonly ignorePublicAcls: boolean;
  readonly blockPublicPolicy: boolean;
  readonly restrictPublicBuckets: boolean;
}

/** Whose the objects are that other accounts put; with `BucketOwnerEnforced` there are no ACLs. */
export type ObjectOwnership = 'BucketOwnerEnforced' | 'BucketOwnerPreferred' | 'ObjectWriter';

export interface CorsRule {
  readonly id?: string;
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers?: readonly string[];
  readonly expose?: readonly string[];
  readonly maxAgeSeconds?: number;
}

export interface LifecycleRule {
  readonly id: string;
  readonly enabled: boolean;
  readonly prefix: string;
  /** How its filter was written, so that it is shown the same: `<Prefix>` of the rule, `<Filter/>`, or one criterion in `<And>`. */
  readonly form?: 'prefix' | 'empty' | 'and';
  readonly tags?: Readonly<Record<string, string>>;
  readonly sizeGreaterThan?: number;
  readonly sizeLessThan?: number;
  readonly expireDays?: number;
  /** Milliseconds since 1970, midnight UTC. */
  readonly expireDate?: number;
  readonly expireDeleteMarkers?: boolean;
  readonly noncurrentDays?: number;
  readonly noncurrentKeep?: number;
  readonly abortUploadDays?: number;
  readonly transitions?: readonly Transition[];
  readonly noncurrentTransitions?: readonly NoncurrentTransition[];
}

/** Objects move to another storage policy a number of days after they were put, or on a day. */
export interface Transition {
  /** As it was given, to be shown the same. */
  readonly storageClass: string;
  /** Index of the policy it named then. */
  readonly policy: number;
  readonly days?: number;
  /** Milliseconds since 1970, midnight UTC. */
  readonly date?: number;
}

/** The same of versions that something newer hides, counted in days after that came. */
export interface NoncurrentTransition {
  readonly storageClass: string;
  readonly policy: number;
  readonly days: number;
  /** This many of the newest hidden ones stay where they are. */
  readonly keep?: number;
}

/** Every object put is copied to a remote endpoint; deletions too where `deletes` says so. */
export interface ReplicationRule {
  readonly id: string;
  readonly enabled: boolean;
  readonly prefix: string;
  /** Name of the remote endpoint (`obsdst-00000001`). */
  readonly destination: string;
  readonly targetBucket: string;
  readonly deletes: boolean;
}

import type { BucketSettings, Grant } from './bucket-settings.ts';

/** How a storage policy keeps an object: whole copies, or data fragments with parity fragments. */
export interface PolicyLayout {
  /** Never used again once given: it is part of every partition's number. */
  readonly index: number;
  readonly name: string;
  /** 0 where objects are cut into fragments. */
  readonly copies: number;
  readonly dataFragments: number;
  readonly parityFragments: number;
}

export type Versioning = 'off' | 'enabled' | 'suspended';

/** A bucket to S3, a container to Swift. */
export interface Bucket {
  readonly id: number;
  /** 32 hex digits. */
  readonly account: string;
  /** Unique in its account. */
  readonly name: string;
  /** Index of the storage policy; never changes. */
  readonly policy: number;
  readonly createdAt: number;
  readonly versioning: Versioning;
  /** Object lock can only be switched on. */
  readonly lockable: boolean;
  readonly settings: BucketSettings;
  /** Versions of every age that hold bytes, parts of unfinished uploads not counted. */
  readonly objects: number;
  readonly bytes: number;
  /** Of `objects`, those that something newer hides. */
  readonly noncurrent: number;
}

export interface Checksum {
  readonly algorithm: 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256';
  /** Base64; with `-<parts>` behind it when composite. */
  readonly value: string;
  readonly type: 'FULL_OBJECT' | 'COMPOSITE';
}

/** What is kept of an object beside its bytes and returned as it came. */
export interface ObjectAttributes {
  readonly contentType?: string;
  /** By lower-case name: cache-control, content-disposition, content-encoding, content-language, expires. */
  readonly headers?: Readonly<Record<string, string>>;
  /** User metadata by lower-case name without prefix; S3 and Swift see the same. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>>;
  readonly checksum?: Checksum;
  /** A canned ACL; absent means private. */
  readonly acl?: string;
  /** In its place where the list is none of the canned ones. */
  readonly grants?: readonly Grant[];
  /** The account that put it and owns it, where that is not the bucket's: see `ObjectOwnership`. */
  readonly writer?: string;
  /** Its bytes are encrypted with a key of the array's. Objects of before this was recorded may be all the same. */
  readonly encryption?: 'AES256';
  /** Its bytes are encrypted with a key that only its client has: what is needed beside that key to decrypt them. */
  readonly customerKey?: CustomerSeal;
  /** Index of the storage policy its bytes are kept under, where that is not the bucket's. The index keeps it when the rest changes. */
  readonly policy?: number;
  readonly websiteRedirect?: string;
  /** Sizes of the parts of a multipart object, in order. */
  readonly partSizes?: readonly number[];
  /** Checksums of the parts, where the uploader gave them. */
  readonly partChecksums?: readonly (string | null)[];
  /** The body is a Swift static manifest (JSON); `etag` and `size` are those of the whole. */
  readonly staticManifest?: { readonly etag: string; readonly size: number };
  /** Swift dynamic large object: `container/prefix`. */
  readonly dynamicManifest?: string;
  /** A Swift symlink: who reads it gets the object it names. */
  readonly symlink?: Symlink;
  /** Replicated from elsewhere, or to elsewhere: see the replication of the bucket. */
  readonly replication?: 'PENDING' | 'COMPLETED' | 'FAILED' | 'REPLICA';
}

/** Where a symlink leads: a dynamic one to whatever has the name, a static one to that object as it was. */
export interface Symlink {
  /** Id of the target's account; absent for the symlink's own. */
  readonly account?: string;
  readonly container: string;
  readonly object: string;
  /** Static: ETag and size that the target had. */
  readonly etag?: string;
  readonly bytes?: number;
}

/** Base64 all. The starts are those of its parts, in order; of an object that was put whole there is one. */
export interface CustomerSeal {
  readonly salt: string;
  readonly verifier: string;
  readonly starts: readonly string[];
}

export interface Retention {
  readonly mode: 'GOVERNANCE' | 'COMPLIANCE';
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** One version of an object, or a delete marker. Without versioning there is one, whose `versionId` is `null`. */
export interface ObjectVersion {
  readonly bucket: number;
  readonly key: string;
  /** Grows with every change; orders the versions of a key. */
  readonly sequence: number;
  readonly versionId: string;
  readonly isLatest: boolean;
  readonly isDeleteMarker: boolean;
  readonly size: number;
  /** Hex without quotes; `<hex>-<parts>` for multipart. */
  readonly etag: string;
  readonly modifiedAt: number;
  /** Swift: X-Delete-At. Milliseconds since 1970. */
  readonly expiresAt: number | null;
  /** User id (32 hex digits) of who put it. */
  readonly owner: string;
  readonly attributes: ObjectAttributes;
  readonly retention: Retention | null;
  readonly legalHold: boolean;
  /** Where its bytes are; only the store looks inside. */
  readonly content: Content;
}

/** A version as its writer gets it, without the place of its bytes, which would have to cross threads. */
export type WrittenVersion = Omit<ObjectVersion, 'content'>;

/** Attributes that listings show: those that neighbours mostly have in common. */
export interface ListedAttributes extends Omit<
  ObjectAttributes,
  'headers' | 'metadata' | 'checksum' | 'partSizes' | 'partChecksums' | 'customerKey'
> {
  readonly checksum?: Omit<Checksum, 'value'>;
}

/** A version as a listing shows it; `version` has the rest. */
export type ListedVersion = Omit<ObjectVersion, 'attributes'> & { readonly attributes: ListedAttributes };

/** An object as a listing shows it; `version` has the rest. */
export type ListedObject = Pick<ListedVersion, 'key' | 'size' | 'etag' | 'modifiedAt' | 'attributes'>;

/** Bytes as the index knows them: one blob, or a numbered manifest of many. */
export type Content =
  | { readonly kind: 'empty' }
  | { readonly kind: 'blob'; readonly blob: BlobRef }
  | { readonly kind: 'manifest'; readonly manifest: number };

export interface BlobRef {
  /** Policy index and partition in one number: `policy * 2^16 + partition`. */
  readonly partition: number;
  /** 16 random bytes. */
  readonly id: Uint8Array;
  readonly size: number;
}

/** A piece of a blob: a copy, or a fragment. */
export interface Place {
  readonly drive: number;
  readonly segment: number;
  /** Of the record's header in the segment. */
  readonly offset: number;
}

/** A blob with what is needed to read it. */
export interface BlobRecord extends BlobRef {
  /** Number of the key it is encrypted with; 0 for none. */
  readonly key: number;
  /** By slot; null where a piece is missing. */
  readonly places: readonly (Place | null)[];
}

/** On a quorum of drives, durably, but in no index yet: invisible, and after a crash dead space. */
export interface StagedBlob extends BlobRecord {
  /** Bytes that each place takes in its segment, header and checksums included. */
  readonly pieceBytes: number;
}

export interface Upload {
  /** 32 hex digits. */
  readonly id: string;
  readonly bucket: number;
  readonly key: string;
  readonly owner: string;
  readonly createdAt: number;
  readonly attributes: ObjectAttributes;
  readonly retention: Retention | null;
  readonly legalHold: boolean;
  readonly checksumAlgorithm: Checksum['algorithm'] | null;
  readonly checksumType: Checksum['type'] | null;
}

export interface Part {
  readonly number: number;
  readonly size: number;
  /** MD5, hex. */
  readonly etag: string;
  readonly checksum: Checksum | null;
  readonly modifiedAt: number;
}

/** A change of a bucket that is to be passed on to a remote endpoint. */
export interface Replication {
  readonly bucket: number;
  readonly key: string;
  /** Orders the changes of a key; unique among them. */
  readonly number: number;
  /** Version that is to be copied; null for a deletion. */
  readonly sequence: number | null;
  readonly destination: string;
  readonly target: string;
  /** How often it was tried in vain. */
  readonly attempts: number;
  /** Multipart upload at the remote endpoint that a try before began and did not end. */
  readonly upload: string | null;
}

/** What an account stores now. */
export interface AccountUsage {
  readonly buckets: number;
  readonly objects: number;
  readonly bytes: number;
  readonly policies: readonly {
    readonly policy: number;
    readonly buckets: number;
    readonly objects: number;
    readonly bytes: number;
  }[];
}

/** What an account kept under a policy over a time: for bills. */
export interface StoredUsage {
  readonly account: string;
  readonly policy: number;
  /** Integral of the stored bytes over the time, exact. */
  readonly byteMilliseconds: bigint;
  /** At the end of the time. */
  readonly bytes: number;
  readonly objects: number;
  readonly buckets: number;
}

/** How many buckets of an account are replicated to a remote endpoint. */
export interface ReplicatedBuckets {
  readonly destination: string;
  readonly account: string;
  readonly buckets: number;
}

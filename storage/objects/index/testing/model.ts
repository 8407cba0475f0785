import { createHash } from 'node:crypto';
import type { ObjectErrorCode } from '../../errors.ts';
import type { Arguments, Conditions, NewContent } from '../../operations.ts';
import type { ObjectAttributes, Retention, Versioning } from '../../records.ts';

/** How the model says that something is refused. */
export class Refusal extends Error {
  readonly code: ObjectErrorCode;

  constructor(code: ObjectErrorCode) {
    super(code);
    this.code = code;
  }
}

export interface ModelVersion {
  readonly sequence: number;
  readonly versionId: string;
  readonly marker: boolean;
  readonly size: number;
  readonly etag: string;
  readonly modifiedAt: number;
  /** Ids of the blobs, in order. */
  blobs: readonly string[];
  attributes: ObjectAttributes;
  retention: Retention | null;
  legalHold: boolean;
  expiresAt: number | null;
}

interface ModelPart {
  readonly size: number;
  readonly etag: string;
  readonly blobs: readonly string[];
}

export interface ModelUpload {
  readonly id: string;
  readonly bucket: number;
  readonly key: string;
  readonly parts: Map<number, ModelPart>;
}

export interface ModelBucket {
  readonly id: number;
  readonly account: string;
  readonly policy: number;
  readonly lockDefault: { readonly mode: 'GOVERNANCE' | 'COMPLIANCE'; readonly days: number } | undefined;
  versioning: Versioning;
  readonly lockable: boolean;
  /** Newest first. */
  readonly keys: Map<string, ModelVersion[]>;
}

interface Delta {
  readonly owner: string;
  readonly at: number;
  readonly bytes: number;
}

const PART_SIZE_MIN = 5 * 2 ** 20;
const COMPLETED_KEEP_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** The rules of the object store in memory, with lists and without indexes. */
export class Model {
  readonly buckets = new Map<number, ModelBucket>();
  readonly uploads = new Map<string, ModelUpload>();
  readonly #completed = new Map<
    string,
    {
      readonly bucket: number;
      readonly key: string;
      readonly etag: string;
      readonly sequence: number;
      readonly at: number;
    }
  >();
  readonly #deltas: Delta[] = [];
  readonly #lastAt = new Map<string, number>();

  bucket(id: number): ModelBucket {
    const bucket = this.buckets.get(id);
    if (!bucket) throw new Refusal('no-such-bucket');
    return bucket;
  }

  versions(bucket: number, key: string): readonly ModelVersion[] {
    return this.buckets.get(bucket)?.keys.get(key) ?? [];
  }

  current(bucket: number, key: string): ModelVersion | undefined {
    const [newest] = this.versions(bucket, key);
    return newest?.marker ? undefined : newest;
  }

  find(bucket: number, key: string, versionId: string): ModelVersion | undefined {
    return this.versions(bucket, key).find((version) => version.versionId === versionId);
  }

  put(args: Arguments<'putObject'>, sequence: () => number): ModelVersion {
    const bucket = this.bucket(args.bucket);
    checkConditions(args.conditions, this.current(bucket.id, args.key), 'no-such-key');
    if (!bucket.lockable && (args.retention || args.legalHold)) throw new Refusal('invalid-state');
    const blobs = this.#blobsOf(args.attributes.policy ?? bucket.policy, args.content, args.size);
    const version: ModelVersion = {
      ...this.#identity(bucket, sequence()),
      marker: false,
      size: args.size,
      etag: args.etag,
      modifiedAt: args.at,
      blobs,
      attributes: withPolicy(args.attributes, bucket, args.attributes.policy),
      retention: args.retention === undefined ? defaultRetention(bucket, args.at) : args.retention,
      legalHold: args.legalHold ?? false,
      expiresAt: args.expiresAt ?? null,
    };
    this.#add(bucket, args.key, version, args.at);
    return version;
  }

  delete(args: Arguments<'deleteObject'>, sequence: () => number): { removed: ModelVersion | null; marker: boolean } {
    const bucket = this.bucket(args.bucket);
    const { key, versionId, at } = args;
    if (versionId !== undefined) return this.#deleteVersion(bucket, args, versionId);
    const current = this.current(bucket.id, key);
    const isHidden = this.versions(bucket.id, key).length > 0;
    checkConditions(args.conditions, current, isHidden ? 'precondition-failed' : 'no-such-key');
    if (bucket.versioning === 'off') {
      if (current) this.#drop(bucket, key, current, at);
      return { removed: current ?? null, marker: false };
    }
    const marker: ModelVersion = {
      ...this.#identity(bucket, sequence()),
      marker: true,
      size: 0,
      etag: '',
      modifiedAt: at,
      blobs: [],
      attributes: {},
      retention: null,
      legalHold: false,
      expiresAt: null,
    };
    this.#add(bucket, key, marker, at);
    return { removed: current ?? null, marker: true };
  }

  #deleteVersion(
    bucket: ModelBucket,
    { key, conditions, bypassGovernance, at }: Arguments<'deleteObject'>,
    versionId: string,
  ): { removed: ModelVersion | null; marker: boolean } {
    const version = this.find(bucket.id, key, versionId);
    const isAsked = version?.marker === true && conditions?.ifSequence === version.sequence;
    checkConditions(isAsked ? {} : conditions, version?.marker ? undefined : version, 'precondition-failed');
    if (!version) return { removed: null, marker: false };
    const kept = version.retention && version.retention.until > at ? version.retention.mode : null;
    if (version.legalHold || kept === 'COMPLIANCE' || (kept === 'GOVERNANCE' && !bypassGovernance)) {
      throw new Refusal('object-locked');
    }
    const wasNewest = this.versions(bucket.id, key)[0] === version;
    this.#drop(bucket, key, version, at);
    const promoted = wasNewest ? this.current(bucket.id, key) : undefined;
    if (promoted?.expiresAt !== null && promoted !== undefined && promoted.expiresAt <= at) promoted.expiresAt = null;
    return { removed: version, marker: version.marker };
  }

  change(args: Arguments<'changeVersion'>): ModelVersion {
    const bucket = this.bucket(args.bucket);
    const { versionId, retention } = args;
    const version =
      versionId === undefined ? this.current(bucket.id, args.key) : this.find(bucket.id, args.key, versionId);
    if (!version) throw new Refusal(versionId === undefined ? 'no-such-key' : 'no-such-version');
    if (version.marker) throw new Refusal('invalid-state');
    if (!bucket.lockable && (retention || args.legalHold)) throw new Refusal('invalid-state');
    const present = version.retention;
    if (retention !== undefined && present && present.until > args.at) {
      const mayWeaken = present.mode === 'GOVERNANCE' && args.bypassGovernance;
      const weaker =
        !retention ||
        retention.until < present.until ||
        (present.mode === 'COMPLIANCE' && retention.mode === 'GOVERNANCE');
      if (weaker && !mayWeaken) throw new Refusal('object-locked');
    }
    if (args.attributes) {
      const attributes = Object.fromEntries(
        Object.entries({ ...version.attributes, ...args.attributes }).filter(([, value]) => value !== undefined),
      );
      version.attributes = withPolicy(attributes, bucket, version.attributes.policy);
    }
    if (retention !== undefined) version.retention = retention;
    if (args.legalHold !== undefined) version.legalHold = args.legalHold;
    if (args.expiresAt !== undefined) version.expiresAt = args.expiresAt;
    return version;
  }

  /** `seen` is what the version consisted of when it was read. */
  move(args: Arguments<'moveVersion'>, seen: readonly string[]): void {
    const bucket = this.bucket(args.bucket);
    const version = this.versions(bucket.id, args.key).find(({ sequence }) => sequence === args.sequence);
    if (!version || version.marker || version.blobs !== seen) throw new Refusal('precondition-failed');
    const blobs = this.#blobsOf(args.policy, args.content, version.size);
    this.#count(bucket, policyOf(bucket, version), -version.size, args.at);
    this.#count(bucket, args.policy, version.size, args.at);
    version.blobs = blobs.length === 0 ? seen : blobs;
    version.attributes = withPolicy(version.attributes, bucket, args.policy);
  }

  setVersioning(id: number, versioning: 'enabled' | 'suspended'): void {
    const bucket = this.bucket(id);
    if (bucket.lockable && versioning === 'suspended') throw new Refusal('invalid-state');
    bucket.versioning = versioning;
  }

  putPart(args: Arguments<'putPart'>): void {
    const bucket = this.bucket(args.bucket);
    const upload = this.#upload(args);
    if (!upload) throw new Refusal('no-such-upload');
    const blobs = this.#blobsOf(bucket.policy, args.content, args.size);
    upload.parts.set(args.number, { size: args.size, etag: args.etag, blobs });
  }

  complete(args: Arguments<'completeUpload'>, sequence: () => number): ModelVersion {
    const bucket = this.bucket(args.bucket);
    const upload = this.#upload(args);
    if (!upload) return this.#completedBefore(args);
    if (args.parts.length === 0) throw new Refusal('invalid-part');
    if (args.parts.some((part, at) => part.number <= (args.parts[at - 1]?.number ?? 0))) {
      throw new Refusal('invalid-part-order');
    }
    const parts = args.parts.map(({ number, etag }) => {
      const part = upload.parts.get(number);
      if (part?.etag !== etag) throw new Refusal('invalid-part');
      return part;
    });
    if (parts.slice(0, -1).some((part) => part.size < PART_SIZE_MIN)) throw new Refusal('part-too-small');
    checkConditions(args.conditions, this.current(bucket.id, args.key), 'no-such-key');
    const version: ModelVersion = {
      ...this.#identity(bucket, sequence()),
      marker: false,
      size: parts.reduce((sum, part) => sum + part.size, 0),
      etag: wholeEtag(args.parts),
      modifiedAt: args.at,
      blobs: parts.flatMap((part) => part.blobs),
      attributes: { partSizes: parts.map((part) => part.size) },
      retention: defaultRetention(bucket, args.at),
      legalHold: false,
      expiresAt: null,
    };
    this.#add(bucket, args.key, version, args.at);
    this.uploads.delete(upload.id);
    const { etag, sequence: number } = version;
    this.#completed.set(upload.id, { bucket: bucket.id, key: args.key, etag, sequence: number, at: args.at });
    return version;
  }

  abort(args: Arguments<'abortUpload'>): void {
    if (!this.#upload(args)) throw new Refusal('no-such-upload');
    this.uploads.delete(args.upload);
  }

  /** All blobs anyone holds. */
  blobs(): Set<string> {
    const versions = [...this.buckets.values()].flatMap(({ keys }) => [...keys.values()].flat());
    const parts = [...this.uploads.values()].flatMap(({ parts: all }) => [...all.values()]);
    return new Set([...versions, ...parts].flatMap(({ blobs }) => blobs));
  }

  /** Integral of the bytes of an account's policy, from its definition. */
  area(owner: string, from: number, to: number): bigint {
    let sum = 0n;
    for (const delta of this.#deltas) {
      const start = Math.max(delta.at, from);
      if (delta.owner === owner && start < to) sum += BigInt(delta.bytes) * BigInt(to - start);
    }
    return sum;
  }

  #completedBefore(args: Arguments<'completeUpload'>): ModelVersion {
    const done = this.#completed.get(args.upload);
    if (done?.bucket !== args.bucket || done.key !== args.key || done.etag !== wholeEtag(args.parts)) {
      throw new Refusal('no-such-upload');
    }
    if (done.at < args.at - COMPLETED_KEEP_MS) throw new Refusal('no-such-upload');
    const version = this.versions(args.bucket, args.key).find(({ sequence }) => sequence === done.sequence);
    if (!version) throw new Refusal('no-such-upload');
    return version;
  }

  #upload({
    upload,
    bucket,
    key,
  }: {
    readonly upload: string;
    readonly bucket: number;
    readonly key: string;
  }): ModelUpload | undefined {
    const found = this.uploads.get(upload);
    return found?.bucket === bucket && found.key === key ? found : undefined;
  }

  #identity(bucket: ModelBucket, sequence: number): { sequence: number; versionId: string } {
    return { sequence, versionId: bucket.versioning === 'enabled' ? sequence.toString(16) : 'null' };
  }

  #blobsOf(policy: number, content: NewContent, size: number): readonly string[] {
    if (content.kind === 'empty') return [];
    if (content.kind === 'staged') return content.blobs.map(({ id }) => Buffer.from(id).toString('hex'));
    if (content.kind === 'bytes') throw new Refusal('invalid-state');
    const { of } = content;
    const source = this.versions(of.bucket, of.key).find(({ sequence }) => sequence === of.sequence);
    if (!source || source.marker) throw new Refusal('no-such-version');
    if (source.size !== size) throw new Refusal('invalid-state');
    if (size > 0 && policyOf(this.bucket(of.bucket), source) !== policy) throw new Refusal('moved');
    return source.blobs;
  }

  #add(bucket: ModelBucket, key: string, version: ModelVersion, at: number): void {
    const old = version.versionId === 'null' ? this.find(bucket.id, key, 'null') : undefined;
    if (old) this.#drop(bucket, key, old, at);
    bucket.keys.set(key, [version, ...this.versions(bucket.id, key)]);
    if (!version.marker) this.#count(bucket, policyOf(bucket, version), version.size, at);
  }

  #drop(bucket: ModelBucket, key: string, version: ModelVersion, at: number): void {
    const rest = this.versions(bucket.id, key).filter((one) => one !== version);
    if (rest.length > 0) bucket.keys.set(key, rest);
    else bucket.keys.delete(key);
    if (!version.marker) this.#count(bucket, policyOf(bucket, version), -version.size, at);
  }

  #count({ account }: ModelBucket, policy: number, bytes: number, at: number): void {
    const owner = `${account}/${policy}`;
    const now = Math.max(this.#lastAt.get(owner) ?? 0, at);
    this.#lastAt.set(owner, now);
    this.#deltas.push({ owner, at: now, bytes });
  }
}

function policyOf(bucket: ModelBucket, { attributes }: ModelVersion): number {
  return attributes.policy ?? bucket.policy;
}

function withPolicy(
  { policy: _policy, ...attributes }: ObjectAttributes,
  bucket: ModelBucket,
  policy: number | undefined,
): ObjectAttributes {
  return policy === undefined || policy === bucket.policy ? attributes : { ...attributes, policy };
}

function defaultRetention({ lockable, lockDefault }: ModelBucket, at: number): Retention | null {
  return lockable && lockDefault ? { mode: lockDefault.mode, until: at + lockDefault.days * DAY_MS } : null;
}

function wholeEtag(parts: readonly { readonly etag: string }[]): string {
  const all = Buffer.concat(parts.map(({ etag }) => Buffer.from(etag, 'hex')));
  return `${createHash('md5').update(all).digest('hex')}-${parts.length}`;
}

function checkConditions(
  conditions: Conditions | undefined,
  current: ModelVersion | undefined,
  missing: ObjectErrorCode,
): void {
  const { ifMatch, ifNoneMatch, ifSequence } = conditions ?? {};
  if (current && (ifNoneMatch === '*' || ifNoneMatch === current.etag)) throw new Refusal('precondition-failed');
  if (ifMatch === undefined && ifSequence === undefined) return;
  if (!current) throw new Refusal(missing);
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== current.etag) throw new Refusal('precondition-failed');
  if (ifSequence !== undefined && ifSequence !== current.sequence) throw new Refusal('precondition-failed');
}

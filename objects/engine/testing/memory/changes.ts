import { createHash, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  ObjectError,
  type Arguments,
  type Bucket,
  type Cause,
  type Commit,
  type Happened,
  type ObjectEvent,
  type ObjectVersion,
  type OperationName,
  type Part,
  type Result,
  type Upload,
} from '@granary/storage/object-store';
import { checkConditions, checkLock, checkRetention } from './rules.ts';
import type { MemoryBucket, MemoryState, MemoryUpload } from './state.ts';
import { ReplicationQueue } from './replication-queue.ts';
import { MemoryVersions } from './versions.ts';

type Changes = { readonly [O in OperationName]: (args: Arguments<O>) => Result<O> };

const DAY_MS = 86_400_000;
const PART_SIZE_MIN = 5 * 2 ** 20;

const MARKER = {
  isDeleteMarker: true,
  size: 0,
  etag: '',
  expiresAt: null,
  owner: '',
  attributes: {},
  retention: null,
  legalHold: false,
  content: { kind: 'empty' },
} as const;

/** Every change of the engine in memory: done at once, and as a whole or not at all. */
export class MemoryChanges {
  readonly #state: MemoryState;
  readonly #queue: ReplicationQueue;
  readonly #versions: MemoryVersions;

  constructor(state: MemoryState) {
    this.#state = state;
    this.#queue = new ReplicationQueue(state);
    this.#versions = new MemoryVersions(state, this.#queue);
  }

  readonly commit: Commit = async (operation, args) => this.#changes[operation](args);

  readonly #changes: Changes = {
    createBucket: (args) => this.#createBucket(args),
    changeBucket: (args) => this.#changeBucket(args),
    deleteBucket: (args) => this.#deleteBucket(args),
    putObject: (args) => this.#putObject(args),
    deleteObject: (args) =>
      args.versionId === undefined ? this.#deleteCurrent(args) : this.#deleteVersion(args, args.versionId),
    changeVersion: (args) => this.#changeVersion(args),
    moveVersion: ({ bucket, key, sequence, policy, at }) => {
      const version = this.#state.versions(bucket, key).find((one) => one.sequence === sequence);
      if (!version || version.isDeleteMarker) throw new ObjectError('precondition-failed', 'The version is gone.');
      this.#versions.move(this.#state.bucket(bucket), version, policy, at);
      this.#reportVersion('LifecycleTransition', version, { at });
      return null;
    },
    createUpload: ({ at, ...upload }) => this.#createUpload(upload, at),
    putPart: (args) => this.#putPart(args),
    completeUpload: (args) => this.#completeUpload(args),
    abortUpload: (args) => {
      this.#state.uploads.delete(this.#upload(args).record.id);
      return null;
    },
    endReplication: (args) => this.#queue.end(args),
    postponeReplication: (args) => this.#queue.postpone(args),
    setReplicationUpload: (args) => this.#queue.setUpload(args),
    endNotifications: (args) => this.#state.notifications.end(args),
    postponeNotification: (args) => this.#state.notifications.postpone(args),
    trimNotifications: (args) => this.#state.notifications.trim(args),
    purgeAccount: (args) => this.#purgeAccount(args),
    dropUsage: ({ account }) => {
      this.#state.usage.drop(account);
      return null;
    },
  };

  #createBucket({ account, name, policy, lockable, settings, at }: Arguments<'createBucket'>): Bucket {
    const all = [...this.#state.buckets.values()];
    if (all.some(({ record }) => record.account === account && record.name === name))
      throw new ObjectError('bucket-exists', 'The bucket exists.');
    const id = this.#state.nextSequence();
    const versioning = lockable ? 'enabled' : 'off';
    const counters = { objects: 0, bytes: 0, noncurrent: 0 };
    const record = { id, account, name, policy, createdAt: at, versioning, lockable, settings, ...counters } as const;
    this.#state.buckets.set(id, { record, keys: new Map() });
    this.#state.usage.add({ account, policy, buckets: 1, objects: 0, bytes: 0, at });
    return record;
  }

  #changeBucket({ bucket, versioning, lockable, settings = {}, ...args }: Arguments<'changeBucket'>): Bucket {
    const found = this.#state.bucket(bucket);
    const { record } = found;
    const { seen } = args;
    if (seen && (!isDeepStrictEqual(seen.settings, record.settings) || seen.versioning !== record.versioning))
      throw new ObjectError('precondition-failed', 'The bucket was changed meanwhile.');
    const next = {
      ...record,
      versioning: versioning ?? record.versioning,
      lockable: lockable ?? record.lockable,
      settings: { ...record.settings, ...settings } as Bucket['settings'],
    };
    if (next.lockable && next.versioning !== 'enabled')
      throw new ObjectError('invalid-state', 'Object lock needs versioning.');
    found.record = next;
    const { testsNotifications: cause, at } = args;
    if (cause) this.#report(bucket, { event: 'TestEvent', key: '', at, cause });
    return this.#state.shown(found);
  }

  #deleteBucket({ bucket, force, at }: Arguments<'deleteBucket'>): null {
    const { record, keys } = this.#state.bucket(bucket);
    const uploads = [...this.#state.uploads.values()].filter((one) => one.record.bucket === bucket);
    if (keys.size > 0 || (uploads.length > 0 && force !== true))
      throw new ObjectError('bucket-not-empty', 'The bucket is not empty.');
    for (const upload of uploads) this.#state.uploads.delete(upload.record.id);
    this.#dropBucket(record, at);
    return null;
  }

  #dropBucket({ id, account, policy }: Bucket, at: number): void {
    this.#state.buckets.delete(id);
    this.#state.usage.add({ account, policy, buckets: -1, objects: 0, bytes: 0, at });
  }

  #putObject(args: Arguments<'putObject'>): ObjectVersion {
    const { key, size, etag, owner, attributes, legalHold = false, expiresAt = null, at } = args;
    const bucket = this.#state.bucket(args.bucket);
    checkConditions(args.conditions, this.#state.current(args.bucket, key), 'no-such-key');
    refuseUnlockable(bucket, args);
    const version = this.#versions.add(bucket, {
      bucket: args.bucket,
      key,
      isDeleteMarker: false,
      size,
      etag,
      modifiedAt: at,
      expiresAt,
      owner,
      attributes,
      retention: args.retention === undefined ? defaultRetention(bucket, at) : args.retention,
      legalHold,
      content: this.#versions.contentOf(bucket, args.content, size),
    });
    this.#reportVersion(args.cause?.event ?? 'ObjectCreated:Put', version, args);
    return version;
  }

  #report(bucket: number, happened: Omit<Happened, 'sequence'> & Partial<Happened>): void {
    const sequence = happened.sequence ?? this.#state.nextSequence();
    this.#state.notifications.add(this.#state.bucket(bucket).record, { ...happened, sequence });
  }

  #reportVersion(
    event: ObjectEvent,
    { bucket, key, sequence, size, etag, versionId }: ObjectVersion,
    { at, cause }: { readonly at: number; readonly cause?: Cause },
  ): void {
    this.#report(bucket, { event, key, sequence, size, etag, versionId, at, ...(cause && { cause }) });
  }

  /** What a rule removes says so. */
  #reportDeletion(
    { bucket, key, versionId, cause, at }: Arguments<'deleteObject'>,
    marker?: Pick<ObjectVersion, 'sequence' | 'versionId'>,
  ): void {
    const family = cause?.event === 'LifecycleExpiration:Delete' ? 'LifecycleExpiration' : 'ObjectRemoved';
    const of = { key, at, ...(cause && { cause }), ...(versionId !== undefined && { versionId }) };
    if (marker === undefined) this.#report(bucket, { event: `${family}:Delete`, ...of });
    else {
      const { sequence, versionId: own } = marker;
      this.#report(bucket, { event: `${family}:DeleteMarkerCreated`, ...of, sequence, versionId: own });
    }
  }

  #deleteCurrent(args: Arguments<'deleteObject'>): Result<'deleteObject'> {
    const { bucket: id, key, conditions, unreplicated, at } = args;
    const bucket = this.#state.bucket(id);
    const current = this.#state.current(id, key);
    const isHidden = this.#state.versions(id, key).length > 0;
    checkConditions(conditions, current, isHidden ? 'precondition-failed' : 'no-such-key');
    if (unreplicated !== true) this.#queue.addDeletion(bucket.record, key, current !== undefined, at);
    if (bucket.record.versioning === 'off') {
      if (current) {
        this.#versions.drop(bucket, current, at);
        this.#reportDeletion(args);
      }
      return { removed: current ?? null, marker: null };
    }
    const marker = this.#versions.add(bucket, { ...MARKER, bucket: id, key, modifiedAt: at });
    this.#reportDeletion(args, marker);
    return { removed: current ?? null, marker: { versionId: marker.versionId } };
  }

  #deleteVersion(args: Arguments<'deleteObject'>, versionId: string): Result<'deleteObject'> {
    const { key, conditions, bypassGovernance = false, at } = args;
    const bucket = this.#state.bucket(args.bucket);
    const found = this.#state.versions(args.bucket, key).find((version) => version.versionId === versionId);
    const isMarker = found?.isDeleteMarker === true;
    const isNamed = isMarker && conditions?.ifSequence === found.sequence;
    checkConditions(isNamed ? {} : conditions, isMarker ? undefined : found, 'precondition-failed');
    if (!found) return { removed: null, marker: null };
    checkLock(found, at, bypassGovernance);
    if (found.isLatest && conditions?.ifNoncurrent === true)
      throw new ObjectError('precondition-failed', 'The version is the newest of its key.');
    this.#versions.drop(bucket, found, at);
    this.#reportDeletion(args);
    return { removed: found, marker: isMarker ? { versionId } : null };
  }

  #changeVersion(args: Arguments<'changeVersion'>): ObjectVersion {
    const { key, versionId, attributes, retention, legalHold, expiresAt, bypassGovernance = false, at } = args;
    const bucket = this.#state.bucket(args.bucket);
    const found =
      versionId === undefined
        ? this.#state.current(args.bucket, key)
        : this.#state.versions(args.bucket, key).find((version) => version.versionId === versionId);
    if (!found) throw new ObjectError(versionId === undefined ? 'no-such-key' : 'no-such-version', 'It is not there.');
    if (found.isDeleteMarker) throw new ObjectError('invalid-state', 'A delete marker has nothing to change.');
    refuseUnlockable(bucket, args);
    if (retention !== undefined) checkRetention(found, retention, at, bypassGovernance);
    const next = {
      ...found,
      attributes: { ...found.attributes, ...attributes } as ObjectVersion['attributes'],
      retention: retention === undefined ? found.retention : retention,
      legalHold: legalHold ?? found.legalHold,
      expiresAt: expiresAt === undefined ? found.expiresAt : expiresAt,
    };
    const versions = this.#state.versions(args.bucket, key);
    bucket.keys.set(
      key,
      versions.map((version) => (version.sequence === found.sequence ? next : version)),
    );
    if (args.cause?.event) this.#reportVersion(args.cause.event, next, args);
    return next;
  }

  #createUpload(upload: Omit<Upload, 'id' | 'createdAt'>, at: number): Upload {
    this.#state.bucket(upload.bucket);
    const record = { ...upload, id: randomBytes(16).toString('hex'), createdAt: at };
    this.#state.uploads.set(record.id, { record, parts: new Map() });
    return record;
  }

  #putPart(args: Arguments<'putPart'>): Part {
    const { number, size, etag, checksum, at } = args;
    const content = this.#versions.contentOf(this.#state.bucket(args.bucket), args.content, size);
    const part = { number, size, etag, checksum, modifiedAt: at };
    this.#upload(args).parts.set(number, { ...part, content });
    return part;
  }

  #completeUpload(args: Arguments<'completeUpload'>): ObjectVersion {
    const bucket = this.#state.bucket(args.bucket);
    const upload = this.#upload(args);
    if (args.parts.some(({ number }, at) => number <= (args.parts[at - 1]?.number ?? 0)))
      throw new ObjectError('invalid-part-order', 'Parts are named in ascending order.');
    const parts = args.parts.map(({ number, etag }) => {
      const part = upload.parts.get(number);
      if (part?.etag !== etag) throw new ObjectError('invalid-part', `Part ${number} is not there.`);
      return part;
    });
    if (parts.length === 0) throw new ObjectError('invalid-part', 'An upload has at least one part.');
    if (parts.slice(0, -1).some(({ size }) => size < PART_SIZE_MIN))
      throw new ObjectError('part-too-small', 'All parts but the last have at least 5 MiB.');
    checkConditions(args.conditions, this.#state.current(args.bucket, args.key), 'no-such-key');
    const bytes = Buffer.concat(parts.map(({ content }) => this.#state.bytesOf(content)));
    const { owner, attributes, retention, legalHold } = upload.record;
    const sums = createHash('md5').update(Buffer.concat(parts.map(({ etag }) => Buffer.from(etag, 'hex'))));
    this.#state.uploads.delete(upload.record.id);
    const version = this.#versions.add(bucket, {
      bucket: args.bucket,
      key: args.key,
      isDeleteMarker: false,
      size: bytes.length,
      etag: `${sums.digest('hex')}-${parts.length}`,
      modifiedAt: args.at,
      expiresAt: null,
      owner,
      attributes: {
        ...attributes,
        ...(args.checksum && { checksum: args.checksum }),
        partSizes: parts.map(({ size }) => size),
      },
      retention: retention ?? defaultRetention(bucket, args.at),
      legalHold,
      content: this.#versions.store(bucket, bytes),
    });
    this.#reportVersion('ObjectCreated:CompleteMultipartUpload', version, args);
    return version;
  }

  #upload({ upload, bucket, key }: { upload: string; bucket: number; key: string }): MemoryUpload {
    const found = this.#state.uploads.get(upload);
    if (found?.record.bucket === bucket && found.record.key === key) return found;
    throw new ObjectError('no-such-upload', 'The upload does not exist.');
  }

  #purgeAccount({ account, limit, at }: Arguments<'purgeAccount'>): Result<'purgeAccount'> {
    let removed = 0;
    for (const bucket of [...this.#state.buckets.values()].filter(({ record }) => record.account === account)) {
      for (const version of [...bucket.keys.values()].flat()) {
        if (removed === limit) return { removed, done: false };
        this.#versions.drop(bucket, version, at);
        removed += 1;
      }
      for (const [id, upload] of this.#state.uploads)
        if (upload.record.bucket === bucket.record.id) this.#state.uploads.delete(id);
      if (removed === limit) return { removed, done: false };
      this.#dropBucket(bucket.record, at);
      removed += 1;
    }
    this.#state.notifications.drop(account);
    return { removed, done: true };
  }
}

function defaultRetention({ record: { lockable, settings } }: MemoryBucket, at: number): ObjectVersion['retention'] {
  const { lockDefault } = settings;
  return lockable && lockDefault ? { mode: lockDefault.mode, until: at + lockDefault.days * DAY_MS } : null;
}

function refuseUnlockable(
  { record }: MemoryBucket,
  { retention, legalHold }: Partial<Pick<ObjectVersion, 'retention' | 'legalHold'>>,
): void {
  if (!record.lockable && (retention || legalHold))
    throw new ObjectError('invalid-state', 'The bucket has no object lock.');
}

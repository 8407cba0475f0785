import {
  isExpired,
  ObjectError,
  type Arguments,
  type Bucket,
  type Cause,
  type Conditions,
  type NewContent,
  type ObjectErrorCode,
  type ObjectStore,
  type ObjectVersion,
  type WrittenVersion,
} from '@granary/storage/object-store';
import { timestamp } from '../request/metadata.ts';
import { MAX_OBJECT_NAME } from '../request/address.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import { byteLength } from '../request/text.ts';
import { EMPTY_MD5, stageStream } from './upload.ts';

/**
 * X-Versions-Location and X-History-Location: before an object is overwritten it is copied to another container, as
 * `<length of its name, 3 hex digits><name>/<time>`. A deletion brings the last copy back (stack), or leaves a copy and a
 * marker there (history). Between the copy and the change another request may change the object: the change then is refused
 * by its condition, and both are done again.
 */

export const DELETED_TYPE = 'application/x-deleted;swift_versions_deleted=1';

const TRIES = 20;
/** Times have so many places behind those that clocks here tell: room for copies of the same millisecond. */
const PER_MILLISECOND = 100;

interface Kept {
  readonly store: ObjectStore;
  readonly now: number;
  readonly cause: Cause;
}

function asCopy(cause: Cause): Cause {
  return { ...cause, event: 'ObjectCreated:Copy' };
}

interface NewVersion {
  readonly content: NewContent;
  readonly attributes: ObjectVersion['attributes'];
  readonly size: number;
  readonly etag: string;
  readonly owner: string;
}

function prefixOf(key: string): string {
  return `${byteLength(key).toString(16).padStart(3, '0')}${key}/`;
}

/** Names for a copy, the best first: they are listed in the order of their times. */
function* copyNames(key: string, at: number): Generator<string> {
  for (let step = 0; step < PER_MILLISECOND; step++) {
    const name = `${prefixOf(key)}${timestamp(at + step / PER_MILLISECOND)}`;
    if (byteLength(name) > MAX_OBJECT_NAME) {
      throw new SwiftRefusal(
        400,
        `The name is too long for old versions: theirs have ${name.length - key.length} more`,
      );
    }
    yield name;
  }
}

/** Puts a copy under a free name, also while others do the same; returns the name. */
async function putCopy(
  { store, now, cause }: Kept,
  target: Bucket,
  of: { readonly key: string; readonly at: number },
  copy: NewVersion,
): Promise<string> {
  for (const key of copyNames(of.key, of.at)) {
    try {
      await store.commit('putObject', {
        bucket: target.id,
        key,
        ...copy,
        conditions: { ifNoneMatch: '*' },
        cause: asCopy(cause),
        at: now,
      });
      return key;
    } catch (error) {
      if (!(error instanceof ObjectError) || error.code !== 'precondition-failed') throw error;
    }
  }
  throw new SwiftRefusal(409, 'The object changes too often for its old versions to be kept. Please try again.');
}

function versionsContainer(store: ObjectStore, bucket: Bucket): Bucket | undefined {
  const { legacyVersions } = bucket.settings;
  return legacyVersions && store.bucket(bucket.account, legacyVersions.container);
}

function demandVersionsContainer(store: ObjectStore, bucket: Bucket): Bucket {
  const target = versionsContainer(store, bucket);
  if (target === undefined) throw new SwiftRefusal(412, 'The versions container does not exist');
  return target;
}

/** Shared where both containers keep their bytes alike, else written anew; encrypted where the container or the object says so. */
async function contentFor(store: ObjectStore, source: ObjectVersion, from: Bucket, to: Bucket): Promise<NewContent> {
  if (source.content.kind === 'empty') return { kind: 'empty' };
  const { bucket, key, sequence } = source;
  const asked = source.attributes.encryption;
  const encryption = to.settings.encryption ?? (asked && { algorithm: asked });
  const isAsWanted = encryption === undefined || store.isEncrypted(source);
  if ((source.attributes.policy ?? from.policy) === to.policy && isAsWanted)
    return { kind: 'copy', of: { bucket, key, sequence } };
  const target = { policy: to.policy, settings: encryption === undefined ? {} : { encryption } };
  return (await stageStream(store, target, store.read(source), source.size)).content;
}

async function copyOf(store: ObjectStore, source: ObjectVersion, from: Bucket, to: Bucket): Promise<NewVersion> {
  const {
    acl: _acl,
    grants: _grants,
    writer: _writer,
    replication: _replication,
    policy: _policy,
    ...attributes
  } = source.attributes;
  const { size, etag, owner } = source;
  return { content: await contentFor(store, source, from, to), attributes, size, etag, owner };
}

/** Takes back what was done for a change that was then refused. */
type Undo = () => Promise<unknown>;

/** Copies what is there to where old versions are kept. A dynamic manifest holds nothing that would be lost. */
async function keep(kept: Kept, bucket: Bucket, current: ObjectVersion): Promise<Undo> {
  const { store, now, cause } = kept;
  const target = demandVersionsContainer(store, bucket);
  const isLost =
    current.attributes.dynamicManifest === undefined && !isExpired(current, { bucket, now, isNamed: false });
  if (!isLost) return () => Promise.resolve();
  const copy = await copyOf(store, current, bucket, target);
  const key = await putCopy(kept, target, { key: current.key, at: current.modifiedAt }, copy);
  return () => store.commit('deleteObject', { bucket: target.id, key, cause, at: now });
}

/** Another request changed the object meanwhile: by a condition, or because what was to be copied is gone. */
const REFUSALS: readonly ObjectErrorCode[] = ['precondition-failed', 'no-such-key', 'no-such-version'];

function isRefused(error: unknown): boolean {
  return error instanceof ObjectError && REFUSALS.includes(error.code);
}

/** Bytes that came along belong to the commit that took them: another try needs its own. */
function contentAgain(content: NewContent): NewContent {
  return content.kind === 'bytes' ? { ...content, bytes: Uint8Array.from(content.bytes) } : content;
}

function unchanged(current: ObjectVersion | undefined): Conditions {
  return current === undefined ? { ifNoneMatch: '*' } : { ifSequence: current.sequence };
}

/** Puts an object; in a container with a place for old versions, what was there is kept first. */
export async function commitPut(kept: Kept, bucket: Bucket, wanted: Arguments<'putObject'>): Promise<WrittenVersion> {
  const { store } = kept;
  const args = { cause: kept.cause, ...wanted };
  if (bucket.settings.legacyVersions === undefined) return store.commit('putObject', args);
  for (let tries = 1; ; tries++) {
    const current = store.version(bucket.id, args.key);
    // What the client's own condition refuses is refused before anything is copied.
    if (current !== undefined && args.conditions?.ifNoneMatch === '*') return store.commit('putObject', args);
    if (current === undefined) demandVersionsContainer(store, bucket);
    let undo: Undo | undefined;
    try {
      undo = current && (await keep(kept, bucket, current));
      const conditions = { ...args.conditions, ...unchanged(current) };
      return await store.commit('putObject', { ...args, content: contentAgain(args.content), conditions });
    } catch (error) {
      await undo?.();
      if (args.conditions !== undefined || tries >= TRIES || !isRefused(error)) throw error;
    }
  }
}

type Deletion = Awaited<ReturnType<typeof deletePlainly>>;

function deletePlainly({ store, now, cause }: Kept, bucket: Bucket, current: ObjectVersion) {
  const conditions = { ifSequence: current.sequence };
  return store.commit('deleteObject', { bucket: bucket.id, key: current.key, conditions, cause, at: now });
}

async function deleteWithMarker(kept: Kept, bucket: Bucket, current: ObjectVersion): Promise<Deletion> {
  const { store, now, cause } = kept;
  const target = demandVersionsContainer(store, bucket);
  const undo = await keep(kept, bucket, current);
  const marker = { content: { kind: 'empty' }, size: 0, etag: EMPTY_MD5, owner: current.owner } as const;
  const attributes = { contentType: DELETED_TYPE };
  const at = Math.max(now, current.modifiedAt + 1);
  const key = await putCopy(kept, target, { key: current.key, at }, { ...marker, attributes });
  try {
    return await deletePlainly(kept, bucket, current);
  } catch (error) {
    await store.commit('deleteObject', { bucket: target.id, key, cause, at: now });
    await undo();
    throw error;
  }
}

/** Brings the last copy back. A marker of a deletion goes when what it hides is brought back. */
async function bringBack(
  { store, now, cause }: Kept,
  bucket: Bucket,
  key: string,
  current: ObjectVersion | undefined,
): Promise<Deletion | undefined> {
  const target = versionsContainer(store, bucket);
  if (target === undefined) return undefined;
  const query = { prefix: prefixOf(key), delimiter: null, after: null, reverse: true, limit: 2 };
  const [first, second] = store.list(target.id, query).objects;
  const isMarker = first?.attributes.contentType === DELETED_TYPE;
  if (first === undefined || (isMarker && current !== undefined)) return undefined;
  const chosen = isMarker ? second : first;
  const version = chosen && store.version(target.id, chosen.key);
  if (version !== undefined && version.attributes.contentType !== DELETED_TYPE) {
    const copy = await copyOf(store, version, target, bucket);
    await store.commit('putObject', {
      bucket: bucket.id,
      key,
      ...copy,
      conditions: unchanged(current),
      cause: asCopy(cause),
      at: now,
    });
    await store.commit('deleteObject', { bucket: target.id, key: version.key, cause, at: now });
  }
  if (isMarker) await store.commit('deleteObject', { bucket: target.id, key: first.key, cause, at: now });
  return { removed: current ?? null, marker: null };
}

/** Deletes an object as its container keeps old versions; undefined when nothing is there, nor anything to bring back. */
export async function commitDelete(kept: Kept, bucket: Bucket, key: string): Promise<Deletion | undefined> {
  const { store, now, cause } = kept;
  for (let tries = 1; ; tries++) {
    const found = store.version(bucket.id, key);
    const current = found && isExpired(found, { bucket, now, isNamed: false }) ? undefined : found;
    try {
      if (bucket.settings.legacyVersions?.mode === 'stack') {
        const restored = await bringBack(kept, bucket, key, found);
        if (restored !== undefined) return restored;
      }
      if (current === undefined) return undefined;
      if (bucket.settings.legacyVersions?.mode === 'history') return await deleteWithMarker(kept, bucket, current);
      return await store.commit('deleteObject', { bucket: bucket.id, key, cause, at: now });
    } catch (error) {
      if (tries >= TRIES || !isRefused(error)) throw error;
    }
  }
}

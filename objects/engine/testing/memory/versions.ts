import { randomBytes } from 'node:crypto';
import { ObjectError, type Content, type NewContent, type ObjectVersion } from '@granary/storage/object-store';
import type { ReplicationQueue } from './replication-queue.ts';
import type { MemoryBucket, MemoryState } from './state.ts';

type NewVersion = Omit<ObjectVersion, 'sequence' | 'versionId' | 'isLatest'>;

const PARTITIONS_PER_POLICY = 2 ** 16;

/** Adds and drops versions with their bytes, and counts them for their account. */
export class MemoryVersions {
  readonly #state: MemoryState;
  readonly #queue: ReplicationQueue;

  constructor(state: MemoryState, queue: ReplicationQueue) {
    this.#state = state;
    this.#queue = queue;
  }

  add(bucket: MemoryBucket, version: NewVersion): ObjectVersion {
    const { id, versioning } = bucket.record;
    const sequence = this.#state.nextSequence();
    const versionId = versioning === 'enabled' ? sequence.toString(16) : 'null';
    const replaced = this.#state.versions(id, version.key).find((one) => one.versionId === 'null');
    if (versionId === 'null' && replaced) this.drop(bucket, replaced, version.modifiedAt);
    const attributes = version.isDeleteMarker
      ? version.attributes
      : this.#queue.addVersion(bucket.record, version.key, sequence, version.attributes, version.modifiedAt);
    const added = { ...version, attributes, sequence, versionId, isLatest: true };
    bucket.keys.set(version.key, [added, ...this.#state.versions(id, version.key)]);
    if (!added.isDeleteMarker) this.#count(bucket, added, 1, version.modifiedAt);
    return added;
  }

  drop(bucket: MemoryBucket, version: ObjectVersion, at: number): void {
    const { key, sequence, isDeleteMarker } = version;
    const rest = this.#state.versions(bucket.record.id, key).filter((one) => one.sequence !== sequence);
    if (rest.length > 0) bucket.keys.set(key, rest);
    else bucket.keys.delete(key);
    if (!isDeleteMarker) this.#count(bucket, version, -1, at);
  }

  /** The bytes of a version are counted under another policy; here they stay where they are. */
  move(bucket: MemoryBucket, version: ObjectVersion, policy: number, at: number): void {
    const { policy: _policy, ...rest } = version.attributes;
    const attributes = policy === bucket.record.policy ? rest : { ...rest, policy };
    const moved = { ...version, attributes };
    this.#count(bucket, version, -1, at);
    this.#count(bucket, moved, 1, at);
    const versions = this.#state.versions(bucket.record.id, version.key);
    bucket.keys.set(
      version.key,
      versions.map((one) => (one.sequence === version.sequence ? moved : one)),
    );
  }

  #count({ record }: MemoryBucket, { attributes, size }: ObjectVersion, sign: 1 | -1, at: number): void {
    const { account, policy } = record;
    const kept = attributes.policy ?? policy;
    this.#state.usage.add({ account, policy: kept, buckets: 0, objects: sign, bytes: sign * size, at });
  }

  contentOf(bucket: MemoryBucket, content: NewContent, size: number): Content {
    if (content.kind === 'empty') return content;
    if (content.kind === 'bytes') return this.store(bucket, content.bytes);
    if (content.kind === 'staged')
      throw new ObjectError('invalid-state', 'This engine stages bytes with their commit.');
    const { of } = content;
    const source = this.#state.versions(of.bucket, of.key).find(({ sequence }) => sequence === of.sequence);
    if (!source || source.isDeleteMarker) throw new ObjectError('no-such-version', 'The version is not there.');
    if (source.size !== size) throw new ObjectError('invalid-state', 'The version has another size.');
    return source.content;
  }

  store({ record: { policy } }: MemoryBucket, bytes: Uint8Array): Content {
    if (bytes.length === 0) return { kind: 'empty' };
    const id = randomBytes(16);
    this.#state.blobs.set(id.toString('hex'), Uint8Array.from(bytes));
    return { kind: 'blob', blob: { partition: policy * PARTITIONS_PER_POLICY, id, size: bytes.length } };
  }
}

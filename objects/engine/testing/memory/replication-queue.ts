import type { Arguments, Bucket, ObjectAttributes } from '@granary/storage/object-store';
import type { MemoryState, QueuedChange } from './state.ts';

/** Changes that wait to be sent to remote endpoints. Those of a key are sent in the order in which they were made. */
export class ReplicationQueue {
  readonly #state: MemoryState;

  constructor(state: MemoryState) {
    this.#state = state;
  }

  /** Queues a new version where a rule of its bucket says so; returns its attributes with the status. */
  addVersion(bucket: Bucket, key: string, sequence: number, given: ObjectAttributes, at: number): ObjectAttributes {
    if (given.replication === 'REPLICA') return given;
    const { replication: _, ...attributes } = given;
    if (!ruleFor(bucket, key)) return attributes;
    this.#add(bucket, key, { number: sequence, sequence }, at);
    return { ...attributes, replication: 'PENDING' };
  }

  addDeletion(bucket: Bucket, key: string, isThere: boolean, at: number): void {
    if (ruleFor(bucket, key)?.deletes !== true || (!isThere && bucket.versioning === 'off')) return;
    this.#add(bucket, key, { number: this.#state.nextSequence(), sequence: null }, at);
  }

  end({ bucket, key, number, status, at }: Arguments<'endReplication'>): null {
    const ended = this.#find({ bucket, key, number });
    if (!ended) return null;
    this.#state.queue = this.#state.queue.filter((one) => one !== ended);
    const next = this.#state.queue.find((one) => one.bucket === bucket && one.key === key);
    if (next) next.dueAt = at;
    const keys = this.#state.buckets.get(bucket)?.keys;
    const versions = keys?.get(key);
    if (status !== null && versions)
      keys?.set(
        key,
        versions.map((version) =>
          version.sequence === ended.sequence
            ? { ...version, attributes: { ...version.attributes, replication: status } }
            : version,
        ),
      );
    return null;
  }

  postpone({ until, ...name }: Arguments<'postponeReplication'>): null {
    const found = this.#find(name);
    if (found) Object.assign(found, { dueAt: until, attempts: found.attempts + 1 });
    return null;
  }

  setUpload({ upload, ...name }: Arguments<'setReplicationUpload'>): null {
    const found = this.#find(name);
    if (found) found.upload = upload;
    return null;
  }

  #add(bucket: Bucket, key: string, change: Pick<QueuedChange, 'number' | 'sequence'>, at: number): void {
    const rule = ruleFor(bucket, key);
    if (!rule) return;
    const waits = this.#state.queue.some((one) => one.bucket === bucket.id && one.key === key);
    this.#state.queue.push({
      ...change,
      bucket: bucket.id,
      key,
      destination: rule.destination,
      target: rule.targetBucket,
      attempts: 0,
      upload: null,
      dueAt: waits ? null : at,
    });
  }

  #find({ bucket, key, number }: Pick<QueuedChange, 'bucket' | 'key' | 'number'>): QueuedChange | undefined {
    return this.#state.queue.find((one) => one.bucket === bucket && one.key === key && one.number === number);
  }
}

function ruleFor({ settings: { replication } }: Bucket, key: string) {
  return replication?.enabled === true && key.startsWith(replication.prefix) ? replication : undefined;
}

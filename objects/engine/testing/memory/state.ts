import {
  ObjectError,
  type Bucket,
  type Content,
  type ObjectVersion,
  type Part,
  type Replication,
  type Upload,
} from '@granary/storage/object-store';
import { NotificationQueue } from './notification-queue.ts';
import { MemoryUsage } from './usage.ts';

export interface MemoryBucket {
  /** Without its counters. */
  record: Bucket;
  /** Newest first. */
  readonly keys: Map<string, ObjectVersion[]>;
}

export interface MemoryPart extends Part {
  readonly content: Content;
}

export interface MemoryUpload {
  readonly record: Upload;
  readonly parts: Map<number, MemoryPart>;
}

/** A change that waits to be sent elsewhere; only the oldest of a key has a time at which it is due. */
export type QueuedChange = { -readonly [K in keyof Replication]: Replication[K] } & { dueAt: number | null };

/** All that the engine in memory keeps. */
export class MemoryState {
  readonly buckets = new Map<number, MemoryBucket>();
  readonly uploads = new Map<string, MemoryUpload>();
  /** Bytes by the id of their blob. */
  readonly blobs = new Map<string, Uint8Array>();
  readonly usage = new MemoryUsage();
  readonly notifications = new NotificationQueue();
  queue: QueuedChange[] = [];
  #sequence = 0;

  nextSequence(): number {
    return ++this.#sequence;
  }

  bucket(id: number): MemoryBucket {
    const found = this.buckets.get(id);
    if (!found) throw new ObjectError('no-such-bucket', 'The bucket does not exist.');
    return found;
  }

  /** With its counters. */
  shown({ record, keys }: MemoryBucket): Bucket {
    const stored = [...keys.values()].flat().filter(({ isDeleteMarker }) => !isDeleteMarker);
    const current = [...keys.values()].filter(([newest]) => newest?.isDeleteMarker === false).length;
    const bytes = stored.reduce((sum, { size }) => sum + size, 0);
    return { ...record, objects: stored.length, bytes, noncurrent: stored.length - current };
  }

  versions(bucket: number, key: string): readonly ObjectVersion[] {
    return (this.buckets.get(bucket)?.keys.get(key) ?? []).map((version, at) => ({ ...version, isLatest: at === 0 }));
  }

  current(bucket: number, key: string): ObjectVersion | undefined {
    const [newest] = this.versions(bucket, key);
    return newest?.isDeleteMarker ? undefined : newest;
  }

  /** Bytes of a version or part, from wherever they are. */
  bytesOf(content: Content): Uint8Array {
    if (content.kind !== 'blob') return new Uint8Array(0);
    return this.blobs.get(Buffer.from(content.blob.id).toString('hex')) ?? new Uint8Array(0);
  }
}

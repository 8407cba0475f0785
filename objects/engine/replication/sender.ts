import { RemoteBucket, RemoteS3, REPLICA, REPLICATION_STATUS, type RemotePlace } from '@granary/protocols/s3/client';
import type { ObjectStore, ObjectVersion } from '@granary/storage/object-store';
import { Body, headersOf, partsOf, sizeOf } from './copy.ts';
import type { ReplicationOrder, ReplicationOutcome } from './order.ts';
import { failedOutcome } from './outcome.ts';

/** One version by its place in the order of all changes, whatever became of it since. */
export interface VersionReader {
  versionAt(bucket: number, key: string, sequence: number): ObjectVersion | undefined;
}

interface SenderOptions {
  readonly store: ObjectStore;
  readonly reader: VersionReader;
}

/** An upload somewhere else, and what goes there. */
interface Uploading {
  readonly bucket: RemoteBucket;
  /** Its name there. */
  readonly name: string;
  readonly version: ObjectVersion;
  readonly upload: string;
  readonly sizes: readonly number[];
}

const PLACES_MAX = 32;
const SEALED = 'it is encrypted with a key of its client, which is not kept here';

/** Passes changes on to S3 services elsewhere; one in each controller, whose hands are on the bytes. */
export class ObjectReplicationSender {
  readonly #options: SenderOptions;
  readonly #stopping = new AbortController();
  readonly #remotes = new Map<string, RemoteS3>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  async send(order: ReplicationOrder): Promise<ReplicationOutcome> {
    try {
      return await this.#pass(order);
    } catch (error) {
      if (this.#stopping.signal.aborted) return { kind: 'unreadable', reason: 'the array is being stopped' };
      return failedOutcome(error);
    }
  }

  /** Aborts what is under way; it is sent again after the next start. */
  stop(): void {
    this.#stopping.abort();
    for (const remote of this.#remotes.values()) remote.close();
  }

  async #pass({ change, place, prefix, marksReplicas }: ReplicationOrder): Promise<ReplicationOutcome> {
    const { bucket: number, key, sequence, target } = change;
    const bucket = new RemoteBucket(this.#remote(place), target, this.#stopping.signal);
    const name = prefix + key;
    if (change.upload !== null) await bucket.abortUpload(name, change.upload);
    if (sequence === null) {
      await bucket.remove(name, marksReplicas ? { [REPLICATION_STATUS]: REPLICA } : {});
      return { kind: 'done' };
    }
    const version = this.#options.reader.versionAt(number, key, sequence);
    if (!version || version.isDeleteMarker) return { kind: 'gone' };
    if (version.attributes.customerKey !== undefined) return { kind: 'refused', reason: SEALED };
    const headers = headersOf(version, marksReplicas);
    const sizes = partsOf(version);
    if (!sizes) return this.#sendWhole(bucket, name, version, headers);
    const upload = await bucket.createUpload(name, headers);
    // On record before the first part is sent: after a crash the next attempt aborts it.
    await this.#options.store.commit('setReplicationUpload', { ...change, upload });
    return this.#sendParts({ bucket, name, version, upload, sizes });
  }

  async #sendWhole(
    bucket: RemoteBucket,
    name: string,
    version: ObjectVersion,
    headers: Record<string, string>,
  ): Promise<ReplicationOutcome> {
    const body = await Body.of(this.#options.store, version, { start: 0, end: sizeOf(version) });
    const etag = await bucket.put(name, body.sendable, headers);
    return etag === body.md5() ? { kind: 'done' } : this.#verify(bucket, name, version);
  }

  async #sendParts({ bucket, name, version, upload, sizes }: Uploading): Promise<ReplicationOutcome> {
    try {
      const parts = [];
      let start = 0;
      for (const [index, size] of sizes.entries()) {
        const body = await Body.of(this.#options.store, version, { start, end: start + size });
        parts.push(await bucket.putPart(name, upload, index + 1, body.sendable));
        start += size;
      }
      await bucket.completeUpload(name, upload, parts);
    } catch (error) {
      // What cannot be given up now is given up before the next try.
      await bucket.abortUpload(name, upload).catch(() => undefined);
      throw error;
    }
    return this.#verify(bucket, name, version);
  }

  /** Not every service has the MD5 for an ETag. Each chunk was signed; the size shows that all of them arrived. */
  async #verify(bucket: RemoteBucket, name: string, version: ObjectVersion): Promise<ReplicationOutcome> {
    const found = await bucket.head(name);
    if (found?.size === sizeOf(version)) return { kind: 'done' };
    const reason = `it has ${found ? `${found.size} bytes` : 'nothing'} where ${sizeOf(version)} bytes were sent`;
    return { kind: 'unreachable', reason };
  }

  #remote(place: RemotePlace): RemoteS3 {
    const name = JSON.stringify(place);
    const known = this.#remotes.get(name);
    if (known) return known;
    const oldest = this.#remotes.entries().next().value;
    if (oldest && this.#remotes.size >= PLACES_MAX) {
      oldest[1].close();
      this.#remotes.delete(oldest[0]);
    }
    const remote = new RemoteS3(place);
    this.#remotes.set(name, remote);
    return remote;
  }
}

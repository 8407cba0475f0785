import type {
  AccountUsage,
  Bucket,
  ByteRange,
  ListedVersion,
  Listing,
  ListQuery,
  Notification,
  ObjectStore,
  ObjectVersion,
  Part,
  ReplicatedBuckets,
  Replication,
  StoredUsage,
  Upload,
  VersionListing,
} from '@granary/storage/object-store';
import type { ObjectCatalogue } from '../../engine.ts';
import type { VersionReader } from '../../replication/sender.ts';
import type { MemoryState } from './state.ts';

type BucketPage = Parameters<ObjectStore['buckets']>[1];
type VersionQuery = Parameters<ObjectStore['listVersions']>[1];
type UploadQuery = Parameters<ObjectStore['uploads']>[1];
type Reads = Omit<
  ObjectStore,
  'policies' | 'defaultPolicy' | 'isEncrypting' | 'canEncrypt' | 'isEncrypted' | 'commit' | 'stage'
>;

interface Entry<T> {
  readonly key: string;
  readonly item: T;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly prefixes: readonly string[];
  /** The last key or common prefix of a page that is not the last. */
  readonly last: { readonly entry: Entry<T> } | { readonly prefix: string } | null;
}

/** Reads of the engine in memory: everything is looked at, and what is not wanted is left out. */
export class MemoryReads implements Reads, ObjectCatalogue, VersionReader {
  readonly #state: MemoryState;

  constructor(state: MemoryState) {
    this.#state = state;
  }

  bucket(account: string, name: string): Bucket | undefined {
    return this.#all().find((one) => one.account === account && one.name === name);
  }

  bucketById(id: number): Bucket | undefined {
    const found = this.#state.buckets.get(id);
    return found && this.#state.shown(found);
  }

  bucketsNamed(name: string): Bucket[] {
    return this.#all().filter((one) => one.name === name);
  }

  buckets(account: string, { prefix = '', after, before, reverse = false, limit }: BucketPage): Bucket[] {
    const [above, below] = reverse ? [before, after] : [after, before];
    const found = this.#all()
      .filter((one) => one.account === account && one.name.startsWith(prefix))
      .filter(({ name }) => above === undefined || byBytes(name, above) > 0)
      .filter(({ name }) => below === undefined || byBytes(name, below) < 0)
      .sort((a, b) => byBytes(a.name, b.name));
    return (reverse ? found.reverse() : found).slice(0, limit);
  }

  usage(account: string): AccountUsage {
    return this.#state.usage.now(account);
  }

  storedOver(account: string, from: number, to: number): StoredUsage[] {
    return this.#state.usage.over(account, from, to);
  }

  version(bucket: number, key: string, versionId?: string): ObjectVersion | undefined {
    if (versionId === undefined) return this.#state.current(bucket, key);
    return this.#state.versions(bucket, key).find((version) => version.versionId === versionId);
  }

  latest(bucket: number, key: string): ObjectVersion | undefined {
    return this.#state.versions(bucket, key)[0];
  }

  versionAt(bucket: number, key: string, sequence: number): ObjectVersion | undefined {
    return this.#state.versions(bucket, key).find((version) => version.sequence === sequence);
  }

  list(bucket: number, query: ListQuery): Listing {
    const { prefix, delimiter, after, before = null, reverse = false, limit } = query;
    const [above, below] = reverse ? [before, after] : [after, before];
    const entries = this.#keys(bucket)
      .flatMap((key) => {
        const item = this.#state.current(bucket, key);
        return item ? [{ key, item }] : [];
      })
      .filter(({ key }) => (above === null || byBytes(key, above) > 0) && (below === null || byBytes(key, below) < 0));
    const { items, prefixes, last } = pageOf(reverse ? entries.reverse() : entries, prefix, delimiter, after, limit);
    return { objects: items, prefixes, next: last && ('entry' in last ? last.entry.key : last.prefix) };
  }

  listVersions(bucket: number, { prefix, delimiter, after, limit }: VersionQuery): VersionListing {
    const entries = this.#keys(bucket)
      .flatMap((key) => this.#state.versions(bucket, key).map((item) => ({ key, item })))
      .filter(({ key, item }) => {
        if (after === null || byBytes(key, after.key) > 0) return true;
        if (key !== after.key || after.versionId === null) return false;
        const passed = this.version(bucket, key, after.versionId)?.sequence ?? Number.parseInt(after.versionId, 16);
        return item.sequence < passed;
      });
    const { items, prefixes, last } = pageOf(entries, prefix, delimiter, after?.key ?? null, limit);
    if (last === null) return { versions: items, prefixes, next: null };
    if ('prefix' in last) return { versions: items, prefixes, next: { key: last.prefix, versionId: null } };
    const { key, item } = last.entry;
    return { versions: items, prefixes, next: { key, versionId: item.versionId } };
  }

  upload(id: string): Upload | undefined {
    return this.#state.uploads.get(id)?.record;
  }

  uploads(bucket: number, { prefix, delimiter, after, limit }: UploadQuery): ReturnType<ObjectStore['uploads']> {
    const entries = [...this.#state.uploads.values()]
      .filter(({ record }) => record.bucket === bucket)
      .map(({ record }) => ({ key: record.key, item: record }))
      .sort((a, b) => byBytes(a.key, b.key) || byBytes(a.item.id, b.item.id))
      .filter(({ key, item }) => {
        if (after === null || byBytes(key, after.key) > 0) return true;
        return key === after.key && after.id !== null && byBytes(item.id, after.id) > 0;
      });
    const { items, prefixes, last } = pageOf(entries, prefix, delimiter, after?.key ?? null, limit);
    if (last === null) return { uploads: items, prefixes, next: null };
    if ('prefix' in last) return { uploads: items, prefixes, next: { key: last.prefix, id: null } };
    return { uploads: items, prefixes, next: { key: last.entry.key, id: last.entry.item.id } };
  }

  parts(upload: string, { after, limit }: { readonly after: number; readonly limit: number }): Part[] {
    const parts = [...(this.#state.uploads.get(upload)?.parts.values() ?? [])];
    return parts
      .filter(({ number }) => number > after)
      .sort((a, b) => a.number - b.number)
      .slice(0, limit);
  }

  expired(now: number, limit: number): ListedVersion[] {
    const current = [...this.#state.buckets.keys()].flatMap((bucket) =>
      this.#keys(bucket).flatMap((key) => this.#state.current(bucket, key) ?? []),
    );
    const timeOf = ({ expiresAt }: ObjectVersion) => expiresAt ?? Infinity;
    return current
      .filter((version) => timeOf(version) <= now)
      .sort((a, b) => timeOf(a) - timeOf(b))
      .slice(0, limit);
  }

  bucketsAging(after: number, limit: number): Bucket[] {
    return this.#all()
      .filter(({ id, settings }) => id > after && settings.lifecycle !== undefined)
      .slice(0, limit);
  }

  replicationDestinations(): string[] {
    return [...new Set(this.#state.queue.filter(({ dueAt }) => dueAt !== null).map((one) => one.destination))].sort();
  }

  replicationsDue(destination: string, now: number, limit: number): Replication[] {
    return this.#state.queue
      .filter((one) => one.destination === destination && one.dueAt !== null && one.dueAt <= now)
      .slice(0, limit)
      .map(({ dueAt: _, ...change }) => change);
  }

  notificationAddresses(): string[] {
    return this.#state.notifications.addresses();
  }

  notificationsDue(address: string, now: number, limit: number): Notification[] {
    return this.#state.notifications.due(address, now, limit);
  }

  replicatedBuckets(): ReplicatedBuckets[] {
    const found = this.#all().flatMap(({ account, settings: { replication } }) =>
      replication ? [{ destination: replication.destination, account, buckets: 1 }] : [],
    );
    const sums = new Map<string, ReplicatedBuckets>();
    for (const one of found) {
      const key = `${one.destination} ${one.account}`;
      sums.set(key, { ...one, buckets: (sums.get(key)?.buckets ?? 0) + 1 });
    }
    return [...sums.values()];
  }

  async *read(version: ObjectVersion, range?: ByteRange): AsyncGenerator<Uint8Array> {
    yield await this.readWhole(version, range);
  }

  readWhole({ content }: ObjectVersion, range?: ByteRange): Promise<Uint8Array> {
    return Promise.resolve(this.#state.bytesOf(content).slice(range?.start, range?.end));
  }

  /** By their number. */
  #all(): Bucket[] {
    return [...this.#state.buckets.values()].map((one) => this.#state.shown(one));
  }

  #keys(bucket: number): string[] {
    return [...(this.#state.buckets.get(bucket)?.keys.keys() ?? [])].sort(byBytes);
  }
}

/** Keys are ordered by their bytes in UTF-8. */
function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** One page of entries in their order; those below a delimiter are one common prefix. `listed`: where the page before ended. */
function pageOf<T>(
  entries: readonly Entry<T>[],
  prefix: string,
  delimiter: string | null,
  listed: string | null,
  limit: number,
): Page<T> {
  const names: (Entry<T> | string)[] = [];
  for (const entry of entries) {
    if (!entry.key.startsWith(prefix)) continue;
    const at = delimiter ? entry.key.indexOf(delimiter, prefix.length) : -1;
    const common = at < 0 ? null : entry.key.slice(0, at + (delimiter ?? '').length);
    if (common === null) names.push(entry);
    else if (common !== listed && names.at(-1) !== common) names.push(common);
  }
  const page = names.slice(0, limit);
  const end = names.length > limit ? page.at(-1) : undefined;
  return {
    items: page.flatMap((name) => (typeof name === 'string' ? [] : [name.item])),
    prefixes: page.filter((name) => typeof name === 'string'),
    last: end === undefined ? null : typeof end === 'string' ? { prefix: end } : { entry: end },
  };
}

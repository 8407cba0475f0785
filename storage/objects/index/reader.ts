import type { Database, SqlValue } from '@granary/kernel/sqlite';
import type { Happened, Notification } from '../notifications.ts';
import type { Listing, ListQuery, ObjectStore, VersionListing } from '../object-store.ts';
import type {
  AccountUsage,
  BlobRef,
  Bucket,
  ListedVersion,
  ObjectVersion,
  Part,
  ReplicatedBuckets,
  Replication,
  StagedBlob,
  StoredUsage,
  Upload,
} from '../records.ts';
import type { Epoch } from '../epoch.ts';
import { BucketCache, type BucketCounters } from './bucket-cache.ts';
import { openIndexReader } from './database.ts';
import { listedKey, ListedRows, type ListedValues } from './listed.ts';
import { spanOf, walk, type Source, type Span } from './listing.ts';
import { findVersion, newestRow } from './operations/versions.ts';
import {
  blobOf,
  bucketOf,
  LISTED_COLUMNS,
  listedRow,
  listedVersionOf,
  partOf,
  sequenceOf,
  uploadOf,
  VERSION_COLUMNS,
  versionIdOf,
  versionOf,
  type BlobRow,
  type BucketRow,
  type PartRow,
  type UploadRow,
  type VersionRow,
} from './rows.ts';
import { storedOver } from './stored.ts';

type BucketPage = Parameters<ObjectStore['buckets']>[1];
type VersionQuery = Parameters<ObjectStore['listVersions']>[1];
type UploadQuery = Parameters<ObjectStore['uploads']>[1];
type UploadListing = ReturnType<ObjectStore['uploads']>;

/** Greater than every key: SQLite puts blobs after all text. */
const NO_END = new Uint8Array(0);
/** SQLite plans a query with a bare `LIMIT ?` again for each value, which takes longer than finding a few rows. */
const LIMIT = 'LIMIT ? + 0';
/** Of one name in all accounts; more are not looked at. */
const NAMESAKES_MAX = 1000;

/** One blob of a manifest and where in the object it begins. */
export interface ManifestBlob extends BlobRef {
  readonly start: number;
}

/** Everything that is read of the index. Synchronous; each thread has one of its own. */
export class IndexReader {
  readonly db: Database;
  readonly #listed = new ListedRows();
  readonly #buckets: BucketCache | undefined;

  /** Of a file, or over a connection that is open already. With an epoch, buckets are remembered. */
  constructor(index: string | Database, epoch?: Epoch) {
    this.db = typeof index === 'string' ? openIndexReader(index) : index;
    this.#buckets = epoch && new BucketCache(epoch);
  }

  close(): void {
    this.db.close();
  }

  bucket(account: string, name: string): Bucket | undefined {
    if (!this.#buckets) return this.#readBucket(account, name);
    return this.#buckets.get(
      account,
      name,
      () => this.#readBucket(account, name),
      (id) => this.#count(id),
    );
  }

  #readBucket(account: string, name: string): Bucket | undefined {
    const row = this.db.get<BucketRow>('SELECT * FROM buckets WHERE account = ? AND name = ?', account, name);
    return row && bucketOf(row);
  }

  #count(bucket: number): BucketCounters {
    const row = this.db.get<BucketCounters>('SELECT objects, bytes, noncurrent FROM buckets WHERE id = ?', bucket);
    return row ?? { objects: 0, bytes: 0, noncurrent: 0 };
  }

  bucketById(id: number): Bucket | undefined {
    const row = this.db.get<BucketRow>('SELECT * FROM buckets WHERE id = ?', id);
    return row && bucketOf(row);
  }

  bucketsNamed(name: string): Bucket[] {
    const sql = `SELECT * FROM buckets WHERE name = ? ORDER BY created_at, id ${LIMIT}`;
    return this.db.all<BucketRow>(sql, name, NAMESAKES_MAX).map(bucketOf);
  }

  buckets(account: string, page: BucketPage): Bucket[] {
    const { prefix = '', after = null, before = null, reverse = false, limit } = page;
    const { from, until } = reverse ? spanOf(prefix, before, after) : spanOf(prefix, after, before);
    const order = reverse ? 'DESC' : 'ASC';
    const sql = `SELECT * FROM buckets WHERE account = ? AND name >= ? AND name < ? ORDER BY name ${order} ${LIMIT}`;
    return this.db.all<BucketRow>(sql, account, from, until ?? NO_END, limit).map(bucketOf);
  }

  usage(account: string): AccountUsage {
    const sql = 'SELECT policy, buckets, objects, bytes FROM usage WHERE account = ? ORDER BY policy';
    const policies = this.db.all<AccountUsage['policies'][number]>(sql, account).map((row) => ({ ...row }));
    const sum = (of: 'buckets' | 'objects' | 'bytes'): number => policies.reduce((total, row) => total + row[of], 0);
    return { buckets: sum('buckets'), objects: sum('objects'), bytes: sum('bytes'), policies };
  }

  /** Of one account, or of all: see `storedOver`. */
  storedOver(account: string | null, from: number, to: number): StoredUsage[] {
    return this.db.snapshot(() => storedOver(this.db, account, from, to));
  }

  version(bucket: number, key: string, versionId?: string): ObjectVersion | undefined {
    if (versionId === undefined) {
      const sql = `SELECT ${VERSION_COLUMNS} FROM objects WHERE bucket = ? AND key = ?`;
      const row = this.db.get<VersionRow>(sql, bucket, key);
      return row && versionOf(row, true);
    }
    return this.db.snapshot(() => {
      const found = findVersion(this.db, bucket, key, versionId);
      if (!found) return undefined;
      return versionOf(found.row, found.isCurrent || this.latest(bucket, key)?.sequence === found.row.sequence);
    });
  }

  latest(bucket: number, key: string): ObjectVersion | undefined {
    return this.db.snapshot(() => {
      const current = this.version(bucket, key);
      if (current) return current;
      const row = newestRow(this.db, bucket, key);
      return row && versionOf(row, true);
    });
  }

  list(bucket: number, query: ListQuery): Listing {
    const { prefix, delimiter, after, before = null, reverse = false, limit } = query;
    const range = reverse ? spanOf(prefix, before, after) : spanOf(prefix, after, before);
    const source = this.#objects(bucket, reverse);
    const span = { ...range, within: null };
    const page = () => walk(source, { prefix, delimiter, span, listed: after, reverse, limit });
    // Without a delimiter it is one query, which sees one state of the index anyway.
    const { rows, prefixes, last } = delimiter ? this.db.snapshot(page) : page();
    const next = last && ('row' in last ? listedKey(last.row) : last.prefix);
    return { objects: this.#listed.objects(rows), prefixes, next };
  }

  #objects(bucket: number, reverse: boolean): Source<ListedValues, never> {
    const span = `FROM objects WHERE bucket = ? AND key >= ? AND key < ? ORDER BY key ${reverse ? 'DESC' : 'ASC'} ${LIMIT}`;
    return {
      keyOf: listedKey,
      subOf: () => null,
      rows: ({ from, until }, limit) =>
        this.#listed.rows((columns, usual) =>
          this.db.arrays(`SELECT ${columns} ${span}`, usual, bucket, from, until ?? NO_END, limit),
        ),
    };
  }

  listVersions(bucket: number, query: VersionQuery): VersionListing {
    return this.db.snapshot(() => {
      const { prefix, delimiter, after, limit } = query;
      const span = this.#versionSpan(bucket, query);
      const source = this.#versions(bucket);
      const listed = after?.key ?? null;
      const { rows, prefixes, last } = walk(source, { prefix, delimiter, span, listed, reverse: false, limit });
      let seen = span.within?.key ?? null;
      const versions = rows.map((row) => {
        const isLatest = row.key !== seen;
        seen = row.key;
        return listedVersionOf(row, isLatest);
      });
      return { versions, prefixes, next: last && nextVersion(last) };
    });
  }

  /** A version without an id may have moved or gone since it was listed: then its key is listed again. */
  #versionSpan(bucket: number, { prefix, after }: VersionQuery): Span<number> {
    if (!after || after.versionId === null) return { ...spanOf(prefix, after?.key ?? null, null), within: null };
    const { key, versionId } = after;
    const sequence =
      versionId === 'null' ? findVersion(this.db, bucket, key, versionId)?.row.sequence : sequenceOf(versionId);
    if (!key.startsWith(prefix)) return { ...spanOf(prefix, key, null), within: null };
    return { ...spanOf(prefix, key, null), within: { key, sub: sequence ?? Number.MAX_SAFE_INTEGER } };
  }

  /** Newest first within a key. */
  #versions(bucket: number): Source<VersionRow, number> {
    const both = (where: string, order: string): string =>
      `SELECT ${LISTED_COLUMNS}, 0 AS marker FROM objects WHERE bucket = ?1 AND ${where}
       UNION ALL SELECT ${LISTED_COLUMNS}, marker FROM versions WHERE bucket = ?1 AND ${where}
       ORDER BY ${order} ${LIMIT}`;
    const within = both('key = ?2 AND sequence < ?3', 'sequence DESC');
    const beyond = both('key >= ?2 AND key < ?3', 'key, sequence DESC');
    return {
      keyOf: (row) => row.key,
      subOf: (row) => row.sequence,
      rows: (span, limit) => {
        const { key, sub } = span.within ?? {};
        const first = key === undefined || sub === undefined ? [] : this.db.arrays(within, bucket, key, sub, limit);
        if (first.length === limit) return first.map(listedRow);
        const rest = this.db.arrays(beyond, bucket, span.from, span.until ?? NO_END, limit - first.length);
        return [...first, ...rest].map(listedRow);
      },
    };
  }

  upload(id: string): Upload | undefined {
    const row = this.db.get<UploadRow>('SELECT * FROM uploads WHERE id = ?', id);
    return row && uploadOf(row);
  }

  uploads(bucket: number, query: UploadQuery): UploadListing {
    const { prefix, delimiter, after, limit } = query;
    const within =
      after && after.id !== null && after.key.startsWith(prefix) ? { key: after.key, sub: after.id } : null;
    const span = { ...spanOf(prefix, after?.key ?? null, null), within };
    const listed = after?.key ?? null;
    const { rows, prefixes, last } = this.db.snapshot(() =>
      walk(this.#uploads(bucket), { prefix, delimiter, span, listed, reverse: false, limit }),
    );
    const next = last && ('row' in last ? { key: last.row.key, id: last.row.id } : { key: last.prefix, id: null });
    return { uploads: rows.map(uploadOf), prefixes, next };
  }

  #uploads(bucket: number): Source<UploadRow, string> {
    const rows = (where: string, ...values: SqlValue[]): UploadRow[] =>
      this.db.all(`SELECT * FROM uploads WHERE bucket = ? AND ${where} ORDER BY key, id ${LIMIT}`, bucket, ...values);
    return {
      keyOf: (row) => row.key,
      subOf: (row) => row.id,
      rows: ({ from, until, within }, limit) => {
        const first = within ? rows('key = ? AND id > ?', within.key, within.sub, limit) : [];
        if (first.length === limit) return first;
        return [...first, ...rows('key >= ? AND key < ?', from, until ?? NO_END, limit - first.length)];
      },
    };
  }

  parts(upload: string, page: { readonly after: number; readonly limit: number }): Part[] {
    const sql = `SELECT parts.* FROM parts JOIN uploads ON uploads.id = parts.upload
                 WHERE parts.upload = ? AND parts.number > ? ORDER BY parts.number ${LIMIT}`;
    return this.db.all<PartRow>(sql, upload, page.after, page.limit).map(partOf);
  }

  /** Objects whose time is over, the longest past first. */
  expired(now: number, limit: number): ListedVersion[] {
    const sql = `SELECT ${LISTED_COLUMNS} FROM objects WHERE expires_at <= ? ORDER BY expires_at ${LIMIT}`;
    return this.db.all<VersionRow>(sql, now, limit).map((row) => listedVersionOf(row, true));
  }

  /** One version by its place in the order of all changes, whatever became of it since. */
  versionAt(bucket: number, key: string, sequence: number): ObjectVersion | undefined {
    const where = 'WHERE bucket = ? AND key = ? AND sequence = ?';
    return this.db.snapshot(() => {
      const current = `SELECT ${VERSION_COLUMNS} FROM objects ${where}`;
      const row = this.db.get<VersionRow>(current, bucket, key, sequence);
      if (row) return versionOf(row, true);
      const older = `SELECT ${VERSION_COLUMNS}, marker FROM versions ${where}`;
      const found = this.db.get<VersionRow>(older, bucket, key, sequence);
      return found && versionOf(found, false);
    });
  }

  /** Remote endpoints that something waits for, in order; one after the other, because few stand for many rows. */
  replicationDestinations(): string[] {
    const sql = 'SELECT min(destination) AS name FROM replication WHERE due_at IS NOT NULL AND destination > ?';
    const names: string[] = [];
    for (;;) {
      const next = this.db.get<{ name: string | null }>(sql, names.at(-1) ?? '')?.name ?? null;
      if (next === null) return names;
      names.push(next);
    }
  }

  /** What can be passed on to a remote endpoint now, the longest due first; one change of a key at most. */
  replicationsDue(destination: string, now: number, limit: number): Replication[] {
    const sql = `SELECT bucket, key, number, sequence, destination, target, attempts, upload FROM replication
                 WHERE destination = ? AND due_at IS NOT NULL AND due_at <= ? ORDER BY due_at, number ${LIMIT}`;
    return this.db.all<Replication>(sql, destination, now, limit).map((row) => ({ ...row }));
  }

  /** Addresses that notifications wait for, in order. */
  notificationAddresses(): string[] {
    const sql = 'SELECT min(address) AS address FROM notifications WHERE address > ?';
    const addresses: string[] = [];
    for (;;) {
      const next = this.db.get<{ address: string | null }>(sql, addresses.at(-1) ?? '')?.address ?? null;
      if (next === null) return addresses;
      addresses.push(next);
    }
  }

  /** What can be posted to an address now, the longest due first. */
  notificationsDue(address: string, now: number, limit: number): Notification[] {
    const sql = `SELECT number, account, bucket, address, seed, rule, happened, attempts FROM notifications
                 WHERE address = ? AND due_at <= ? ORDER BY due_at, number ${LIMIT}`;
    const rows = this.db.all<Omit<Notification, 'happened'> & { readonly happened: string }>(sql, address, now, limit);
    return rows.map((row) => ({ ...row, happened: JSON.parse(row.happened) as Happened }));
  }

  /** How many buckets of which account are replicated to which remote endpoint. */
  replicatedBuckets(): ReplicatedBuckets[] {
    const name = "json_extract(settings, '$.replication.destination')";
    const sql = `SELECT ${name} AS destination, account, count(*) AS buckets FROM buckets
                 WHERE ${name} IS NOT NULL GROUP BY ${name}, account`;
    return this.db.all<ReplicatedBuckets>(sql).map((row) => ({ ...row }));
  }

  /** Buckets with lifecycle rules, by their number. */
  bucketsAging(after: number, limit: number): Bucket[] {
    const sql = `SELECT * FROM buckets WHERE id > ? AND json_extract(settings, '$.lifecycle') IS NOT NULL
                 ORDER BY id ${LIMIT}`;
    return this.db.all<BucketRow>(sql, after, limit).map(bucketOf);
  }

  blob(partition: number, id: Uint8Array): StagedBlob | undefined {
    const row = this.db.get<BlobRow>('SELECT * FROM blobs WHERE partition = ? AND id = ?', partition, id);
    return row && blobOf(row);
  }

  /** In the order of their ids. */
  blobsOf(partition: number, after: Uint8Array | null, limit: number): StagedBlob[] {
    const sql = `SELECT * FROM blobs WHERE partition = ? AND id > ? ORDER BY id ${LIMIT}`;
    return this.db.all<BlobRow>(sql, partition, after ?? '', limit).map(blobOf);
  }

  /** Blobs of a manifest in order, from the one that holds byte `offset`. */
  manifest(id: number, offset: number, limit: number): ManifestBlob[] {
    const sql = `SELECT start, partition, blob AS id, size FROM manifest_blobs WHERE manifest = ?1 AND start >=
                 (SELECT max(start) FROM manifest_blobs WHERE manifest = ?1 AND start <= ?2) ORDER BY start ${LIMIT}`;
    return this.db.all<ManifestBlob>(sql, id, offset, limit);
  }

  /** Bytes in use in a segment; 0 when nothing in it is known. */
  liveBytes(drive: number, segment: number): number {
    const sql = 'SELECT live FROM segments WHERE drive = ? AND segment = ?';
    return this.db.get<{ live: number }>(sql, drive, segment)?.live ?? 0;
  }
}

function nextVersion(last: { readonly row: VersionRow } | { readonly prefix: string }): VersionListing['next'] {
  if ('prefix' in last) return { key: last.prefix, versionId: null };
  return { key: last.row.key, versionId: versionIdOf(last.row) };
}

import type { Migrations, Transaction } from '@granary/kernel/sqlite';

/**
 * Tables of the index. Keys are compared byte by byte (BINARY over UTF-8), which is the order S3 lists in. `objects`
 * holds the version of each key that is current, `versions` the noncurrent ones and all delete markers, newest first;
 * so a listing of a bucket never steps over what it does not show. Bytes are named by `partition` and `blob`, or by a
 * numbered `manifest`. `attributes` is what listings show, `details` the rest. `replication` is what is still to be passed on to other places; only the oldest change of a key
 * is due, those behind it have no `due_at`. Numbers of buckets and manifests are never used again: a reader may still hold one.
 */
const VERSION_COLUMNS = `
  bucket INTEGER NOT NULL,
  key TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  versioned INTEGER NOT NULL,
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  modified_at INTEGER NOT NULL,
  expires_at INTEGER,
  owner TEXT NOT NULL,
  retention_mode TEXT,
  retention_until INTEGER,
  legal_hold INTEGER NOT NULL,
  partition INTEGER,
  blob BLOB,
  manifest INTEGER,
  attributes TEXT,
  details TEXT`;

const TABLES = `
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS buckets (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account TEXT NOT NULL,
  name TEXT NOT NULL,
  policy INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  versioning TEXT NOT NULL,
  lockable INTEGER NOT NULL,
  settings TEXT NOT NULL,
  objects INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  UNIQUE (account, name)
);
CREATE INDEX IF NOT EXISTS buckets_named ON buckets (name, created_at, id);
CREATE INDEX IF NOT EXISTS buckets_replicated ON buckets (json_extract(settings, '$.replication.destination'), account)
  WHERE json_extract(settings, '$.replication.destination') IS NOT NULL;
CREATE INDEX IF NOT EXISTS buckets_aging ON buckets (id) WHERE json_extract(settings, '$.lifecycle') IS NOT NULL;

CREATE TABLE IF NOT EXISTS objects (${VERSION_COLUMNS}, PRIMARY KEY (bucket, key)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS objects_expiring ON objects (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS versions (${VERSION_COLUMNS},
  marker INTEGER NOT NULL,
  PRIMARY KEY (bucket, key, sequence DESC)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS versions_null ON versions (bucket, key) WHERE versioned = 0;

CREATE TABLE IF NOT EXISTS uploads (
  id TEXT PRIMARY KEY,
  bucket INTEGER NOT NULL,
  key TEXT NOT NULL,
  owner TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  attributes TEXT,
  retention_mode TEXT,
  retention_until INTEGER,
  legal_hold INTEGER NOT NULL,
  checksum_algorithm TEXT,
  checksum_type TEXT
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS uploads_listed ON uploads (bucket, key, id);

CREATE TABLE IF NOT EXISTS parts (
  upload TEXT NOT NULL,
  number INTEGER NOT NULL,
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  checksum TEXT,
  modified_at INTEGER NOT NULL,
  partition INTEGER,
  blob BLOB,
  manifest INTEGER,
  PRIMARY KEY (upload, number)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS completed (
  upload TEXT PRIMARY KEY,
  bucket INTEGER NOT NULL,
  key TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  etag TEXT NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS completed_at ON completed (at);

CREATE TABLE IF NOT EXISTS given_up_uploads (upload TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS replication (
  bucket INTEGER NOT NULL,
  key TEXT NOT NULL,
  number INTEGER NOT NULL,
  sequence INTEGER,
  destination TEXT NOT NULL,
  target TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  due_at INTEGER,
  upload TEXT,
  PRIMARY KEY (bucket, key, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS replication_due ON replication (destination, due_at, number) WHERE due_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS manifests (id INTEGER PRIMARY KEY AUTOINCREMENT, refs INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS manifests_given_up ON manifests (id) WHERE refs = 0;

CREATE TABLE IF NOT EXISTS manifest_blobs (
  manifest INTEGER NOT NULL,
  start INTEGER NOT NULL,
  partition INTEGER NOT NULL,
  blob BLOB NOT NULL,
  size INTEGER NOT NULL,
  PRIMARY KEY (manifest, start)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS blobs (
  partition INTEGER NOT NULL,
  id BLOB NOT NULL,
  key INTEGER NOT NULL,
  size INTEGER NOT NULL,
  refs INTEGER NOT NULL,
  piece_bytes INTEGER NOT NULL,
  places BLOB NOT NULL,
  PRIMARY KEY (partition, id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS segments (
  drive INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  live INTEGER NOT NULL,
  PRIMARY KEY (drive, segment)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS partitions (partition INTEGER PRIMARY KEY, marked INTEGER NOT NULL);

CREATE TABLE IF NOT EXISTS usage (
  account TEXT NOT NULL,
  policy INTEGER NOT NULL,
  buckets INTEGER NOT NULL,
  objects INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  at INTEGER NOT NULL,
  area TEXT NOT NULL,
  PRIMARY KEY (account, policy)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS stored (
  account TEXT NOT NULL,
  policy INTEGER NOT NULL,
  day INTEGER NOT NULL,
  area TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  objects INTEGER NOT NULL,
  buckets INTEGER NOT NULL,
  PRIMARY KEY (account, policy, day)
) WITHOUT ROWID;
`;

/** What is to be posted about changes of objects. `happened` is JSON; numbers are never used again. */
const NOTIFICATIONS = `
CREATE TABLE notifications (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  account TEXT NOT NULL,
  bucket TEXT NOT NULL,
  address TEXT NOT NULL,
  seed TEXT NOT NULL,
  rule TEXT NOT NULL,
  happened TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  due_at INTEGER NOT NULL
);
CREATE INDEX notifications_due ON notifications (address, due_at, number);
CREATE INDEX notifications_queued ON notifications (address, number);
CREATE INDEX notifications_of ON notifications (account);
`;

/** Files of before have the details under the name of what was all of them, the parts. */
function renameParts(tx: Transaction): void {
  const old = `SELECT tables.name FROM sqlite_schema tables, pragma_table_info(tables.name) columns
               WHERE tables.name IN ('objects', 'versions') AND columns.name = 'parts'`;
  for (const { name } of tx.all<{ name: string }>(old)) tx.exec(`ALTER TABLE ${name} RENAME COLUMN parts TO details`);
}

/**
 * Files from before they had a version are at 1, whatever they lack: tables and indexes were added as they were needed.
 * The second step brings them to one shape. A new file is made by the first.
 */
export const MIGRATIONS: Migrations = {
  component: 'index',
  unversionedTable: 'objects',
  steps: [
    { name: '0001-index', sql: TABLES },
    {
      name: '0002-one-shape',
      apply(tx) {
        renameParts(tx);
        tx.exec(TABLES);
      },
    },
    {
      name: '0003-noncurrent',
      apply(tx) {
        tx.exec(`ALTER TABLE buckets ADD COLUMN noncurrent INTEGER NOT NULL DEFAULT 0;
          UPDATE buckets SET noncurrent = (SELECT count(*) FROM versions WHERE bucket = buckets.id AND marker = 0)
          WHERE versioning <> 'off'`);
      },
    },
    { name: '0004-part-start', sql: 'ALTER TABLE parts ADD COLUMN start TEXT' },
    { name: '0005-notifications', sql: NOTIFICATIONS },
  ],
};

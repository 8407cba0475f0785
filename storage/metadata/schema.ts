import type { Migrations } from '@granary/kernel/sqlite';

const VERSION_1 = `
CREATE TABLE pool (
  only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
  version INTEGER NOT NULL,
  id TEXT NOT NULL,
  mode TEXT NOT NULL
);
-- Extents first_extent … first_extent + extent_count - 1 lie on this group, in order.
CREATE TABLE groups (
  id TEXT PRIMARY KEY,
  first_extent INTEGER NOT NULL,
  extent_count INTEGER NOT NULL,
  leaving INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE layers (
  id INTEGER PRIMARY KEY,
  parent INTEGER,
  format TEXT NOT NULL
);
CREATE TABLE volumes (
  id TEXT PRIMARY KEY,
  size_bytes INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  options TEXT NOT NULL,
  key_check BLOB,
  -- incoming: a move to this pool has not ended; moved: another pool has it now, and this one is to be deleted.
  state TEXT
);
CREATE TABLE snapshots (
  id TEXT PRIMARY KEY,
  volume TEXT NOT NULL,
  layer INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  taken_at INTEGER NOT NULL
);
CREATE INDEX snapshots_by_volume ON snapshots (volume, taken_at);
-- 256 entries a page, four bytes each (eight in the reduced format); blocks: two times 256 words of which blocks are held, absent when all are.
CREATE TABLE maps (
  layer INTEGER NOT NULL,
  page INTEGER NOT NULL,
  entries BLOB NOT NULL,
  blocks BLOB,
  PRIMARY KEY (layer, page)
) WITHOUT ROWID;
-- Extents packed with chunks of reduced volumes. Which of their blocks are taken follows from the maps.
CREATE TABLE containers (
  id INTEGER PRIMARY KEY,
  extent INTEGER NOT NULL
);
-- Chunks that entries can share, and how many do. A chunk of a volume without deduplication has no row.
CREATE TABLE shared_chunks (
  digest BLOB PRIMARY KEY,
  address INTEGER NOT NULL UNIQUE,
  owners INTEGER NOT NULL
) WITHOUT ROWID;
`;

/** The schema of a pool's metadata. A later version adds a step; files without a version are at version 1. */
export const MIGRATIONS: Migrations = {
  component: 'pool',
  steps: [{ name: '0001-pool', sql: VERSION_1 }],
  unversionedTable: 'pool',
};

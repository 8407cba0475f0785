/** Version 1 of what a pool knows about itself. A later version adds its own statements after these. */
export const SCHEMA = `
CREATE TABLE IF NOT EXISTS pool (
  only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
  version INTEGER NOT NULL,
  id TEXT NOT NULL,
  mode TEXT NOT NULL
);
-- Extents first_extent … first_extent + extent_count - 1 lie on this group, in order.
CREATE TABLE IF NOT EXISTS groups (
  id TEXT PRIMARY KEY,
  first_extent INTEGER NOT NULL,
  extent_count INTEGER NOT NULL,
  leaving INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS layers (
  id INTEGER PRIMARY KEY,
  parent INTEGER,
  format TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS volumes (
  id TEXT PRIMARY KEY,
  size_bytes INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  options TEXT NOT NULL,
  key_check BLOB,
  -- incoming: a move to this pool has not ended; moved: another pool has it now, and this one is to be deleted.
  state TEXT
);
CREATE TABLE IF NOT EXISTS snapshots (
  id TEXT PRIMARY KEY,
  volume TEXT NOT NULL,
  layer INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  taken_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS snapshots_by_volume ON snapshots (volume, taken_at);
-- 256 entries a page, four bytes each (eight in the reduced format); blocks: two times 256 words of which blocks are held, absent when all are.
CREATE TABLE IF NOT EXISTS maps (
  layer INTEGER NOT NULL,
  page INTEGER NOT NULL,
  entries BLOB NOT NULL,
  blocks BLOB,
  PRIMARY KEY (layer, page)
) WITHOUT ROWID;
-- Extents packed with chunks of reduced volumes. Which of their blocks are taken follows from the maps.
CREATE TABLE IF NOT EXISTS containers (
  id INTEGER PRIMARY KEY,
  extent INTEGER NOT NULL
);
-- Chunks that entries can share, and how many do. A chunk of a volume without deduplication has no row.
CREATE TABLE IF NOT EXISTS shared_chunks (
  digest BLOB PRIMARY KEY,
  address INTEGER NOT NULL UNIQUE,
  owners INTEGER NOT NULL
) WITHOUT ROWID;
`;

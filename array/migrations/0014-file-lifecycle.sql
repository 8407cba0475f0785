-- What happens to files as they age.

-- Files are sorted into categories by the extensions of their names; each extension is in one of them.
CREATE TABLE file_categories (
  name         TEXT    PRIMARY KEY,
  display_name TEXT    NOT NULL UNIQUE COLLATE NOCASE,
  created_at   INTEGER NOT NULL,
  modified_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE file_extensions (
  extension TEXT    PRIMARY KEY,                             -- lower case, without its dot
  category  TEXT    NOT NULL REFERENCES file_categories (name) ON DELETE CASCADE,
  place     INTEGER NOT NULL                                 -- in the order they were given
) STRICT, WITHOUT ROWID;
CREATE INDEX file_extensions_by_category ON file_extensions (category, place);

CREATE TABLE lifecycle_policies (
  name         TEXT    PRIMARY KEY,
  display_name TEXT    NOT NULL UNIQUE,
  action       TEXT    NOT NULL CHECK (action IN ('archive', 'expire')),
  criteria     TEXT    NOT NULL,                             -- JSON
  is_enabled   INTEGER NOT NULL,
  is_dry_run   INTEGER NOT NULL,
  uses_bin     INTEGER NOT NULL,
  whitelist    TEXT,                                         -- JSON list of paths; null is everywhere
  blacklist    TEXT,                                         -- JSON list of paths
  destination  TEXT    REFERENCES object_storage_destinations (name),
  created_at   INTEGER NOT NULL,
  modified_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What ties a policy to a share, with the figures of its last run there.
CREATE TABLE lifecycle_rules (
  name          TEXT    PRIMARY KEY,
  policy        TEXT    NOT NULL REFERENCES lifecycle_policies (name),
  volume        TEXT    NOT NULL,
  is_paused     INTEGER NOT NULL DEFAULT 0,
  last_run_at   INTEGER,
  was_dry_run   INTEGER NOT NULL DEFAULT 0,
  matched_files INTEGER NOT NULL DEFAULT 0,
  matched_bytes INTEGER NOT NULL DEFAULT 0,
  handled_files INTEGER NOT NULL DEFAULT 0,
  handled_bytes INTEGER NOT NULL DEFAULT 0,
  changed_files INTEGER NOT NULL DEFAULT 0,                  -- left alone: somebody changed them meanwhile
  failed_files  INTEGER NOT NULL DEFAULT 0,
  problem       TEXT,                                        -- the first failure, or why it did not run
  sample        TEXT    NOT NULL DEFAULT '[]',               -- JSON list of the first paths that matched
  created_at    INTEGER NOT NULL,
  modified_at   INTEGER NOT NULL,
  UNIQUE (policy, volume)
) STRICT, WITHOUT ROWID;
CREATE INDEX lifecycle_rules_by_volume ON lifecycle_rules (volume);

-- Shares whose files are looked at, and how far the present look is.
CREATE TABLE lifecycle_shares (
  volume      TEXT    PRIMARY KEY,
  state       TEXT    NOT NULL CHECK (state IN ('enabled', 'paused', 'disabled')),
  last_run_at INTEGER NOT NULL,                              -- up to when its times were looked at
  scan        TEXT,                                          -- JSON of a scan that has begun and not ended
  modified_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Objects in buckets that hold the data of archived files. On record before the first byte is sent, so that whatever a
-- crash leaves there is known. `sending`: it may be what a stub needs, if a crash came then. `stub`: a stub needs it, or
-- did. `orphan`: none ever did.
CREATE TABLE archived_objects (
  key         TEXT    PRIMARY KEY,
  volume      TEXT    NOT NULL,                              -- it was archived from
  destination TEXT    NOT NULL,                              -- endpoint/bucket
  state       TEXT    NOT NULL CHECK (state IN ('sending', 'stub', 'orphan')),
  size_bytes  INTEGER NOT NULL,
  sha256      TEXT,
  upload      TEXT,                                          -- of parts, as long as it is not complete
  created_at  INTEGER NOT NULL,
  seen_at     INTEGER NOT NULL DEFAULT 0,                    -- the scan that last saw its stub
  unneeded_at INTEGER                                        -- the moment since which the share itself has no stub of it
) STRICT, WITHOUT ROWID;
CREATE INDEX archived_objects_by_volume ON archived_objects (volume, seen_at);
CREATE INDEX archived_objects_unneeded ON archived_objects (unneeded_at) WHERE unneeded_at IS NOT NULL;

-- What shares were cloned from: a clone has the stubs of its source.
CREATE TABLE share_clones (
  clone  TEXT PRIMARY KEY,
  source TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX share_clones_by_source ON share_clones (source);

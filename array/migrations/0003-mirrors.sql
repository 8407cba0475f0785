-- Other arrays, and mirrors between this one and them. Whoever mirrors calls; the destination only answers.

-- Arrays this one found and may call.
CREATE TABLE remote_arrays (
  name                 TEXT    PRIMARY KEY,
  uuid                 TEXT    NOT NULL UNIQUE,
  remote_name          TEXT    NOT NULL,
  display_name         TEXT    NOT NULL,
  provider             TEXT    NOT NULL,
  software_version     TEXT    NOT NULL,
  is_encryption_active INTEGER NOT NULL,
  host                 TEXT    NOT NULL,
  port                 INTEGER NOT NULL,
  is_tls               INTEGER NOT NULL,
  interface            TEXT    NOT NULL CHECK (interface IN ('public', 'vni0', 'fe')),
  proxy                TEXT,                                   -- sealed JSON: it may hold a password
  shared_secret        TEXT    NOT NULL,                       -- sealed: agreed on when it was found
  created_at           INTEGER NOT NULL,
  modified_at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Their pools, by names that stay.
CREATE TABLE remote_pools (
  name            TEXT    PRIMARY KEY,
  remote_array    TEXT    NOT NULL REFERENCES remote_arrays (name) ON DELETE CASCADE,
  remote_name     TEXT    NOT NULL,
  display_name    TEXT    NOT NULL,
  capacity_gb     REAL    NOT NULL,
  available_gb    REAL    NOT NULL,
  is_there        INTEGER NOT NULL,                            -- when it was last asked
  UNIQUE (remote_array, remote_name)
) STRICT, WITHOUT ROWID;

-- Arrays that found this one and may call it.
CREATE TABLE peers (
  uuid             TEXT    PRIMARY KEY,
  name             TEXT    NOT NULL,
  display_name     TEXT    NOT NULL,
  provider         TEXT    NOT NULL,
  software_version TEXT    NOT NULL,
  created_at       INTEGER NOT NULL,
  modified_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE peer_keys (
  mark          TEXT    PRIMARY KEY,                           -- what a key is looked up by
  peer          TEXT    NOT NULL REFERENCES peers (uuid) ON DELETE CASCADE,
  shared_secret TEXT    NOT NULL,                              -- sealed
  created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX peer_keys_by_peer ON peer_keys (peer, created_at);

-- Mirrors whose source is here. `abandoned` was given up before it began; the other side is told, then it is gone.
CREATE TABLE source_mirrors (
  name                TEXT    PRIMARY KEY,
  display_name        TEXT    NOT NULL,
  state               TEXT    NOT NULL CHECK (state IN ('creating', 'active', 'paused', 'broken', 'abandoned')),
  volume              TEXT    NOT NULL,
  cg_name             TEXT    NOT NULL,
  cg_display_name     TEXT    NOT NULL,
  pool_display_name   TEXT    NOT NULL,
  remote_array        TEXT    NOT NULL,
  remote_uuid         TEXT    NOT NULL,
  remote_display_name TEXT    NOT NULL,
  remote_provider     TEXT    NOT NULL,
  remote_pool         TEXT    NOT NULL,                        -- display name
  remote_volume       TEXT    NOT NULL,                        -- display name
  rule                TEXT,                                    -- that takes its snapshots
  rate_limit_kb       INTEGER NOT NULL DEFAULT 0,
  base                TEXT,                                    -- the last snapshot the other side has whole
  base_taken_at       INTEGER,
  round               TEXT,                                    -- the snapshot on its way
  position            INTEGER NOT NULL DEFAULT 0,              -- how far the other side confirmed it
  sent_bytes          INTEGER NOT NULL DEFAULT 0,              -- of the volume, ever
  wire_bytes          INTEGER NOT NULL DEFAULT 0,              -- on the wire, ever
  sync_ms             INTEGER NOT NULL DEFAULT 0,              -- spent on it
  inherit_wwid        INTEGER NOT NULL DEFAULT 0,              -- of a broken one: what the other side is to do
  is_peer_told        INTEGER NOT NULL DEFAULT 0,              -- of a broken one
  created_at          INTEGER NOT NULL,
  modified_at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX source_mirrors_by_display_name ON source_mirrors (display_name)
  WHERE state IN ('creating', 'active', 'paused');
CREATE INDEX source_mirrors_by_volume ON source_mirrors (volume);
CREATE INDEX source_mirrors_by_remote_array ON source_mirrors (remote_array);
CREATE INDEX source_mirrors_by_base ON source_mirrors (base) WHERE base IS NOT NULL;
CREATE INDEX source_mirrors_by_round ON source_mirrors (round) WHERE round IS NOT NULL;

-- Mirrors whose destination is here. Snapshots of the source are known by their names there.
CREATE TABLE destination_mirrors (
  name              TEXT    PRIMARY KEY,
  peer              TEXT    NOT NULL,                          -- uuid of the source's array
  source_job        TEXT    NOT NULL,
  display_name      TEXT    NOT NULL,
  state             TEXT    NOT NULL CHECK (state IN ('creating', 'active', 'breaking', 'broken', 'deleting')),
  volume            TEXT,
  volume_name       TEXT    NOT NULL,                          -- display name
  pool_display_name TEXT    NOT NULL,
  src_provider      TEXT    NOT NULL,
  src_array         TEXT    NOT NULL,                          -- display name
  src_cg_name       TEXT    NOT NULL,
  src_cg            TEXT    NOT NULL,                          -- display name
  src_pool          TEXT    NOT NULL,                          -- display name
  src_wwid          TEXT    NOT NULL,
  is_paused         INTEGER NOT NULL DEFAULT 0,                -- as the source said last
  base              TEXT,                                      -- the last snapshot received whole
  base_taken_at     INTEGER,
  base_snapshot     TEXT,                                      -- the same, as it is named here
  round             TEXT,                                      -- the snapshot on its way
  round_name        TEXT,                                      -- display name
  round_taken_at    INTEGER,
  position          INTEGER NOT NULL DEFAULT 0,                -- everything before it is written and on disk
  received_bytes    INTEGER NOT NULL DEFAULT 0,
  sync_ms           INTEGER NOT NULL DEFAULT 0,
  inherit_wwid      INTEGER NOT NULL DEFAULT 0,
  created_at        INTEGER NOT NULL,
  modified_at       INTEGER NOT NULL,
  UNIQUE (peer, source_job)
) STRICT, WITHOUT ROWID;
CREATE INDEX destination_mirrors_by_base ON destination_mirrors (base_snapshot) WHERE base_snapshot IS NOT NULL;
CREATE INDEX destination_mirrors_by_volume ON destination_mirrors (volume) WHERE volume IS NOT NULL;

-- Buckets the array may use
CREATE TABLE object_storage_destinations (
  name                     TEXT    PRIMARY KEY,
  display_name             TEXT    NOT NULL UNIQUE,
  type                     TEXT    NOT NULL,
  bucket                   TEXT    NOT NULL,
  endpoint                 TEXT    NOT NULL,
  username                 TEXT    NOT NULL,
  password                 TEXT    NOT NULL,                   -- sealed
  connect_via              TEXT    NOT NULL CHECK (connect_via IN ('fe', 'public')),
  allow_lifecycle_policies INTEGER NOT NULL,
  proxy                    TEXT,                               -- sealed JSON: it may hold a password
  proxy_host               TEXT,
  proxy_port               INTEGER,
  created_at               INTEGER NOT NULL,
  modified_at              INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX snapshots_by_mirror ON snapshots (mirror_job, name) WHERE mirror_job IS NOT NULL;
CREATE INDEX volumes_by_mirror ON volumes (mirror_job) WHERE mirror_job IS NOT NULL;

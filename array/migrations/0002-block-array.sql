-- What a block array is made of. A record that is being made or deleted says so in `state`, so that a start after a
-- crash can end what was begun: `creating` is undone, `deleting` is done.

-- Drives and RAID groups
ALTER TABLE drives ADD COLUMN raid_group TEXT;                 -- null when free
ALTER TABLE drives ADD COLUMN role TEXT CHECK (role IN ('member', 'spare'));
ALTER TABLE drives ADD COLUMN is_offline INTEGER NOT NULL DEFAULT 0;
ALTER TABLE drives ADD COLUMN shred_job INTEGER;               -- while it is being shredded
CREATE INDEX drives_by_group ON drives (raid_group);

CREATE TABLE raid_groups (
  name           TEXT    PRIMARY KEY,                          -- RaidGroup-1
  number         INTEGER NOT NULL UNIQUE,
  display_name   TEXT    NOT NULL UNIQUE,
  protection     TEXT    NOT NULL CHECK (protection IN ('RAID1', 'RAID6')),
  width          INTEGER NOT NULL,
  stripe_kb      INTEGER NOT NULL,
  capacity_bytes INTEGER NOT NULL,
  is_ssd         INTEGER NOT NULL,
  pool           TEXT,                                         -- null when in none
  state          TEXT    NOT NULL CHECK (state IN ('creating', 'ready', 'deleting')),
  mismatches     INTEGER NOT NULL DEFAULT 0,                   -- of the last scrub
  min_resync_mb  INTEGER NOT NULL,
  max_resync_mb  INTEGER NOT NULL,
  scrub_job      INTEGER,
  scrub_position REAL    NOT NULL DEFAULT 0,                   -- where a paused scrub goes on, as a fraction
  created_at     INTEGER NOT NULL,
  modified_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX raid_groups_by_pool ON raid_groups (pool);

-- Pools
CREATE TABLE pools (
  name                       TEXT    PRIMARY KEY,
  display_name               TEXT    NOT NULL UNIQUE,
  mode                       TEXT    NOT NULL CHECK (mode IN ('simple', 'stripe')),
  type                       TEXT    NOT NULL,
  capacity_bytes             INTEGER NOT NULL,
  version                    INTEGER NOT NULL DEFAULT 1,
  state                      TEXT    NOT NULL CHECK (state IN ('creating', 'ready', 'deleting')),
  cache                      INTEGER NOT NULL,
  cow_cache                  INTEGER NOT NULL,
  cool_off_hours             INTEGER NOT NULL DEFAULT 0,
  capacity_mode              TEXT    NOT NULL DEFAULT 'normal',
  capacity_history           INTEGER NOT NULL,
  alert_mode                 INTEGER NOT NULL,
  protected_mode             INTEGER NOT NULL,
  emergency_mode             INTEGER NOT NULL,
  effective_capacity_history INTEGER NOT NULL,
  effective_alert_mode       INTEGER NOT NULL,
  effective_protected_mode   INTEGER NOT NULL,
  effective_emergency_mode   INTEGER NOT NULL,
  shrink_group               TEXT,                             -- the RAID group that is leaving
  shrink_job                 INTEGER,
  created_at                 INTEGER NOT NULL,
  modified_at                INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Volumes
CREATE TABLE volumes (
  name                TEXT    PRIMARY KEY,
  display_name        TEXT    NOT NULL,
  cg_name             TEXT    NOT NULL UNIQUE,
  pool                TEXT    NOT NULL,
  size_bytes          INTEGER NOT NULL,
  state               TEXT    NOT NULL CHECK (state IN ('creating', 'ready', 'deleting', 'binned')),
  comment             TEXT,
  compress            INTEGER NOT NULL,
  dedupe              INTEGER NOT NULL,
  wrapped_key         TEXT,                                    -- of an encrypted volume: wrapped by the password, sealed
  wwid                TEXT    NOT NULL,                        -- by which servers know the disk
  mirror_job          TEXT,                                    -- it is the destination of this mirror
  migration           TEXT,                                    -- it is being moved by this job
  mtr_histograms      INTEGER NOT NULL DEFAULT 0,
  capacity_mode       TEXT    NOT NULL DEFAULT 'normal',
  capacity_history    INTEGER NOT NULL DEFAULT 60,
  alert_mode          INTEGER NOT NULL DEFAULT 0,
  emergency_gb        INTEGER NOT NULL DEFAULT 0,
  auto_expand         INTEGER NOT NULL DEFAULT 0,
  auto_expand_by_mb   INTEGER,
  max_capacity_mb     INTEGER,
  read_iops_limit     INTEGER NOT NULL DEFAULT 0,
  read_mbps_limit     INTEGER NOT NULL DEFAULT 0,
  read_latency_limit  INTEGER NOT NULL DEFAULT 0,
  write_iops_limit    INTEGER NOT NULL DEFAULT 0,
  write_mbps_limit    INTEGER NOT NULL DEFAULT 0,
  write_latency_limit INTEGER NOT NULL DEFAULT 0,
  read_iops_capping   INTEGER NOT NULL DEFAULT 0,
  read_mbps_capping   INTEGER NOT NULL DEFAULT 0,
  write_iops_capping  INTEGER NOT NULL DEFAULT 0,
  write_mbps_capping  INTEGER NOT NULL DEFAULT 0,
  is_untold           INTEGER NOT NULL DEFAULT 0,             -- the engine may not know of the reduction yet
  delete_job          INTEGER,
  binned_at           INTEGER,
  created_at          INTEGER NOT NULL,
  modified_at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX volumes_by_display_name ON volumes (display_name) WHERE state IN ('creating', 'ready');
CREATE INDEX volumes_by_pool ON volumes (pool, name, state);
CREATE INDEX volumes_shown ON volumes (name, state) WHERE state <> 'binned';
CREATE INDEX volumes_binned ON volumes (binned_at) WHERE state = 'binned';
CREATE INDEX volumes_going ON volumes (name) WHERE state = 'deleting';
CREATE INDEX volumes_encrypted ON volumes (name) WHERE wrapped_key IS NOT NULL;
CREATE INDEX volumes_watched ON volumes (name)
  WHERE state = 'ready'
    AND (alert_mode > 0 OR emergency_gb > 0 OR auto_expand = 1 OR capacity_mode <> 'normal'
         OR read_iops_limit > 0 OR read_mbps_limit > 0 OR read_latency_limit > 0
         OR write_iops_limit > 0 OR write_mbps_limit > 0 OR write_latency_limit > 0);
CREATE INDEX volumes_capped ON volumes (name)
  WHERE read_iops_capping > 0 OR read_mbps_capping > 0 OR write_iops_capping > 0 OR write_mbps_capping > 0;

-- Servers and what they reach
CREATE TABLE servers (
  name              TEXT    PRIMARY KEY,
  display_name      TEXT    NOT NULL UNIQUE,
  os                TEXT,
  iqn               TEXT,
  address           TEXT,                                      -- or network as address/bits
  array_chap_user   TEXT,
  array_chap_secret TEXT,                                      -- sealed
  host_chap_user    TEXT,
  host_chap_secret  TEXT,                                      -- sealed
  monitoring        INTEGER NOT NULL DEFAULT 1,
  is_connected      INTEGER NOT NULL DEFAULT 0,
  last_check_at     INTEGER,
  state_changed_at  INTEGER,
  created_at        INTEGER NOT NULL,
  modified_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX servers_by_initiator ON servers (iqn COLLATE NOCASE, address);

CREATE TABLE server_wwpns (
  server TEXT NOT NULL REFERENCES servers (name) ON DELETE CASCADE,
  wwpn   TEXT NOT NULL UNIQUE,
  PRIMARY KEY (server, wwpn)
) STRICT, WITHOUT ROWID;

CREATE TABLE attachments (
  volume      TEXT    NOT NULL,
  server      TEXT    NOT NULL,
  access_type TEXT    NOT NULL,
  lun         INTEGER NOT NULL,
  read_only   INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (volume, server)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX attachments_by_server ON attachments (server, lun);

-- Snapshots, what takes them by itself, and sets of them
CREATE TABLE snapshots (
  name         TEXT    PRIMARY KEY,
  display_name TEXT    NOT NULL,
  volume       TEXT    NOT NULL,
  size_bytes   INTEGER NOT NULL,                               -- of the volume, then
  application  TEXT    NOT NULL,                               -- user, mirror, migration, shadow_copy
  rule         TEXT,                                           -- the rule that took it
  mirror_job   TEXT,                                           -- the mirror it was taken for
  state        TEXT    NOT NULL CHECK (state IN ('creating', 'ready', 'deleting')),
  created_at   INTEGER NOT NULL,
  modified_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX snapshots_by_display_name ON snapshots (volume, display_name);
CREATE INDEX snapshots_by_volume ON snapshots (volume, created_at, name);
CREATE INDEX snapshots_by_rule ON snapshots (rule, created_at) WHERE rule IS NOT NULL;

CREATE TABLE snapshot_policies (
  name                TEXT    PRIMARY KEY,
  display_name        TEXT    NOT NULL UNIQUE,
  create_policy       TEXT    NOT NULL,                        -- cron, or manual
  keep                INTEGER,                                 -- null keeps all
  keep_at_destination INTEGER,
  create_empty        INTEGER NOT NULL,
  is_default          INTEGER NOT NULL,                        -- came with the array
  created_at          INTEGER NOT NULL,
  modified_at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshot_rules (
  name        TEXT    PRIMARY KEY,
  policy      TEXT    NOT NULL REFERENCES snapshot_policies (name),
  volume      TEXT    NOT NULL,
  application TEXT    NOT NULL,                                -- user, file_history, mirror
  mirror_job  TEXT,
  is_paused   INTEGER NOT NULL DEFAULT 0,
  last_run_at INTEGER,
  created_at  INTEGER NOT NULL,
  modified_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX snapshot_rules_by_volume ON snapshot_rules (volume);
CREATE INDEX snapshot_rules_by_policy ON snapshot_rules (policy);

CREATE TABLE snapshot_sets (
  id         TEXT    PRIMARY KEY,                              -- chosen by the caller
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshot_set_members (
  snapshot_set TEXT NOT NULL REFERENCES snapshot_sets (id) ON DELETE CASCADE,
  volume       TEXT NOT NULL,
  snapshot     TEXT,
  clone        TEXT,                                           -- volume made of it
  PRIMARY KEY (snapshot_set, volume)
) STRICT, WITHOUT ROWID;
CREATE INDEX snapshot_set_clones ON snapshot_set_members (clone) WHERE clone IS NOT NULL;

-- Moves between pools
CREATE TABLE migrations_of_volumes (
  name           TEXT    PRIMARY KEY,
  volume         TEXT    NOT NULL,
  volume_name    TEXT    NOT NULL,                             -- display names, as they were at its start
  src_pool_name  TEXT    NOT NULL,
  dst_pool_name  TEXT    NOT NULL,
  src_cg         TEXT    NOT NULL,
  dst_cg         TEXT    NOT NULL UNIQUE,
  src_pool       TEXT    NOT NULL,
  dst_pool       TEXT    NOT NULL,
  with_snapshots INTEGER NOT NULL,
  status         TEXT    NOT NULL CHECK (status IN ('Running', 'Paused', 'Completed', 'Aborted')),
  total_bytes    INTEGER NOT NULL DEFAULT 0,
  copied_bytes   INTEGER NOT NULL DEFAULT 0,
  job            INTEGER,
  created_at     INTEGER NOT NULL,
  modified_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX migrations_by_source ON migrations_of_volumes (src_cg, created_at);

-- Notes on pools, volumes and servers
CREATE TABLE tags (
  name       TEXT    PRIMARY KEY,
  kind       TEXT    NOT NULL CHECK (kind IN ('pool', 'volume', 'server')),
  owner      TEXT    NOT NULL,
  key        TEXT    NOT NULL,
  value      TEXT    NOT NULL,
  UNIQUE (kind, owner, key)
) STRICT, WITHOUT ROWID;

-- Files of shares that are or were brought back from a snapshot; the newest few of each share.
CREATE TABLE file_restores (
  name        TEXT    PRIMARY KEY,                             -- restore-00000001
  volume      TEXT    NOT NULL REFERENCES volumes (name) ON DELETE CASCADE,
  snapshot    TEXT    NOT NULL,
  path        TEXT    NOT NULL,
  to_path     TEXT    NOT NULL,
  state       TEXT    NOT NULL,                                -- running, done, failed
  problem     TEXT,
  job         INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  modified_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX file_restores_by_volume ON file_restores (volume, name);

-- The arrays a cloud hosts, and the drives it has: each one free, or with exactly one array.
CREATE TABLE arrays (
  number         INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid           TEXT    NOT NULL UNIQUE,
  product        TEXT    NOT NULL CHECK (product IN ('storage_array', 'object_storage')),
  zone           TEXT,                          -- where all its drives come from; null: from every zone
  desired        TEXT    NOT NULL CHECK (desired IN ('running', 'stopped')),
  removing       INTEGER NOT NULL DEFAULT 0,    -- once 1 it never comes back
  address        TEXT    NOT NULL,
  port           INTEGER NOT NULL,
  public_address TEXT    UNIQUE,
  spec           TEXT    NOT NULL,              -- as the portal wants it, without its secrets
  secrets        TEXT    NOT NULL,              -- sealed
  drives_given   INTEGER NOT NULL DEFAULT 0,    -- the number its newest drive has
  created_at     INTEGER NOT NULL,
  UNIQUE (address, port)
) STRICT;

CREATE TABLE drives (
  uuid        TEXT    PRIMARY KEY,
  type        TEXT    NOT NULL,
  node        TEXT    NOT NULL,
  zone        TEXT    NOT NULL,
  capacity_gb INTEGER NOT NULL,
  array       INTEGER REFERENCES arrays (number),
  number      INTEGER,                          -- order in which its array got it
  policy      TEXT,                             -- storage policy it serves, object storage
  has_file    INTEGER NOT NULL DEFAULT 0,       -- its file was made; never made again while the array lives
  UNIQUE (array, number),
  CHECK ((array IS NULL) = (number IS NULL)),
  CHECK (array IS NOT NULL OR (policy IS NULL AND has_file = 0))
) STRICT, WITHOUT ROWID;
CREATE INDEX drives_by_stock ON drives (type, zone, node, array);
CREATE INDEX drives_by_node ON drives (node);

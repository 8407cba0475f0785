-- S3 services elsewhere that buckets are replicated to.
CREATE TABLE destinations (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  display_name TEXT    NOT NULL UNIQUE,
  type         TEXT    NOT NULL CHECK (type IN ('EXT_S3', 'OBJS_S3')),
  endpoint     TEXT    NOT NULL,   -- as it was given
  url          TEXT    NOT NULL,   -- where it answered
  region       TEXT    NOT NULL,
  access_key   TEXT    NOT NULL,
  secret       TEXT    NOT NULL,   -- sealed
  connect_via  TEXT    NOT NULL CHECK (connect_via IN ('fe', 'outnet')),
  problem      TEXT,               -- why nothing gets through since it last did
  created_at   INTEGER NOT NULL,
  modified_at  INTEGER NOT NULL
) STRICT;

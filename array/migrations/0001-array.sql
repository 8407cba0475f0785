-- One storage array: who may use it, and the drives its cloud gave it.
CREATE TABLE sequences (
  name TEXT    PRIMARY KEY,
  last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  username        TEXT    NOT NULL UNIQUE COLLATE NOCASE,
  email           TEXT,
  role            TEXT    NOT NULL CHECK (role IN ('admin', 'user')),
  password_hash   TEXT    NOT NULL,
  access_key      TEXT    NOT NULL,          -- sealed: it is shown again
  access_key_mark TEXT    NOT NULL UNIQUE,   -- what a key is looked up by
  created_at      INTEGER NOT NULL
) STRICT;

CREATE TABLE drives (
  name         TEXT    PRIMARY KEY,          -- volume-00000001: drives and volumes share one sequence
  display_name TEXT    NOT NULL,
  uuid         TEXT    NOT NULL UNIQUE,
  created_at   INTEGER NOT NULL,
  modified_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE chap (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  array_user   TEXT NOT NULL,
  array_secret TEXT NOT NULL                 -- sealed
) STRICT;

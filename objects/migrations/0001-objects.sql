-- One object storage array: its accounts, their users, and its settings.
CREATE TABLE accounts (
  id          TEXT    PRIMARY KEY,           -- 32 hex digits
  name        TEXT    NOT NULL UNIQUE COLLATE NOCASE,
  is_system   INTEGER NOT NULL DEFAULT 0,    -- the one that administers the array
  enabled     INTEGER NOT NULL DEFAULT 1,
  created_at  INTEGER NOT NULL,
  modified_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
  number           INTEGER PRIMARY KEY AUTOINCREMENT,
  id               TEXT    NOT NULL UNIQUE,  -- 32 hex digits
  account_id       TEXT    NOT NULL REFERENCES accounts (id),
  username         TEXT    NOT NULL COLLATE NOCASE,
  email            TEXT    COLLATE NOCASE,
  role             TEXT    NOT NULL CHECK (role IN ('objs_admin', 'account_admin', 'member')),
  is_primary       INTEGER NOT NULL,         -- the first user of the account
  locked           INTEGER NOT NULL DEFAULT 0,
  notify_on_events INTEGER NOT NULL DEFAULT 0,
  password_hash    TEXT    NOT NULL,
  access_key       TEXT    NOT NULL,         -- sealed; opens this interface
  access_key_mark  TEXT    NOT NULL UNIQUE,
  token            TEXT    NOT NULL,         -- sealed; opens the data path over Swift
  token_mark       TEXT    NOT NULL UNIQUE,
  token_expires_at INTEGER NOT NULL,
  s3_access_key    TEXT    NOT NULL UNIQUE,
  s3_secret_key    TEXT    NOT NULL,         -- sealed
  created_at       INTEGER NOT NULL,
  modified_at      INTEGER NOT NULL,
  UNIQUE (account_id, username)
) STRICT;
CREATE INDEX users_by_email ON users (account_id, email);

CREATE TABLE array_settings (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  chosen      TEXT    NOT NULL,              -- JSON: what was set, over the defaults
  created_at  INTEGER NOT NULL,
  modified_at INTEGER NOT NULL
) STRICT;

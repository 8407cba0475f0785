-- Accounts that are deleted stay for the bills, and their names are free again; so both tables are laid anew.
ALTER TABLE users RENAME TO users_before;
ALTER TABLE accounts RENAME TO accounts_before;
DROP INDEX users_by_email;

CREATE TABLE accounts (
  id          TEXT    PRIMARY KEY,           -- 32 hex digits
  name        TEXT    NOT NULL COLLATE NOCASE,
  is_system   INTEGER NOT NULL DEFAULT 0,    -- the one that administers the array
  enabled     INTEGER NOT NULL DEFAULT 1,
  state       TEXT    NOT NULL DEFAULT 'normal' CHECK (state IN ('normal', 'deleting', 'deleted')),
  email       TEXT,                          -- of the primary user; stays when that one is gone
  metadata    TEXT,                          -- JSON, sealed: there are keys among it
  rate_limit  INTEGER,                       -- changes a second; 0 for no limit, null where the global one holds
  created_at  INTEGER NOT NULL,
  modified_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO accounts (id, name, is_system, enabled, created_at, modified_at)
  SELECT id, name, is_system, enabled, created_at, modified_at FROM accounts_before;
CREATE UNIQUE INDEX accounts_by_name ON accounts (name) WHERE state != 'deleted';
CREATE INDEX accounts_in_order ON accounts (name, id);

CREATE TABLE users (
  number                INTEGER PRIMARY KEY AUTOINCREMENT,
  id                    TEXT    NOT NULL UNIQUE,  -- 32 hex digits
  account_id            TEXT    NOT NULL REFERENCES accounts (id),
  username              TEXT    NOT NULL COLLATE NOCASE,
  email                 TEXT    COLLATE NOCASE,
  role                  TEXT    NOT NULL CHECK (role IN ('objs_admin', 'account_admin', 'member')),
  is_primary            INTEGER NOT NULL,         -- one of each account: the first there is
  locked                INTEGER NOT NULL DEFAULT 0,
  notify_on_events      INTEGER NOT NULL DEFAULT 0,
  notification_severity INTEGER NOT NULL DEFAULT 4,
  password_hash         TEXT,                     -- null until one is set with a code
  password_set_at       INTEGER,
  init_password_changed INTEGER NOT NULL DEFAULT 0,
  code_mark             TEXT,                     -- of the temporary code that sets a password
  code_expires_at       INTEGER,
  access_key            TEXT    NOT NULL,         -- sealed; opens this interface
  access_key_mark       TEXT    NOT NULL UNIQUE,
  token                 TEXT    NOT NULL,         -- sealed; opens the data path over Swift
  token_mark            TEXT    NOT NULL UNIQUE,
  token_expires_at      INTEGER NOT NULL,
  s3_access_key         TEXT    NOT NULL UNIQUE,
  s3_secret_key         TEXT    NOT NULL,         -- sealed
  created_at            INTEGER NOT NULL,
  modified_at           INTEGER NOT NULL,
  UNIQUE (account_id, username)
) STRICT;
INSERT INTO users (number, id, account_id, username, email, role, is_primary, locked, notify_on_events, password_hash,
    password_set_at, access_key, access_key_mark, token, token_mark, token_expires_at, s3_access_key, s3_secret_key,
    created_at, modified_at)
  SELECT number, id, account_id, username, email, role, is_primary, locked, notify_on_events, password_hash,
    created_at, access_key, access_key_mark, token, token_mark, token_expires_at, s3_access_key, s3_secret_key,
    created_at, modified_at
  FROM users_before;
DROP TABLE users_before;
DROP TABLE accounts_before;
CREATE INDEX users_by_email ON users (account_id, email);
CREATE INDEX users_notified ON users (account_id) WHERE notify_on_events = 1;
CREATE INDEX users_of_the_array ON users (number) WHERE role = 'objs_admin';

CREATE TABLE past_passwords (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  user          INTEGER NOT NULL REFERENCES users (number) ON DELETE CASCADE,
  password_hash TEXT    NOT NULL
) STRICT;
CREATE INDEX past_passwords_of ON past_passwords (user, id);

CREATE TABLE account_requests (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  account       TEXT    NOT NULL COLLATE NOCASE,
  username      TEXT    NOT NULL,
  email         TEXT    NOT NULL,
  password_hash TEXT,                        -- until it is decided
  state         TEXT    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'denied')),
  requested_at  INTEGER NOT NULL,
  decided_by    TEXT,
  decided_at    INTEGER
) STRICT;
CREATE INDEX account_requests_by_state ON account_requests (state, id);
CREATE UNIQUE INDEX account_requests_pending ON account_requests (account) WHERE state = 'pending';

-- Mails that wait to be sent. A text may hold a temporary code, so all are sealed.
CREATE TABLE letters (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  recipient  TEXT    NOT NULL,
  sealed     TEXT    NOT NULL,               -- JSON: subject and text
  attempts   INTEGER NOT NULL DEFAULT 0,
  send_after INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX letters_due ON letters (send_after, id);

-- What every service keeps: long work, events, answers to requests that carried an idempotency key, settings.
CREATE TABLE jobs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  kind        TEXT    NOT NULL,
  subject     TEXT    NOT NULL,              -- jobs of one subject run one after the other
  arguments   TEXT    NOT NULL,
  state       TEXT    NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
  ticket      TEXT,                          -- held by whoever runs it
  checkpoint  TEXT,                          -- how far it got, in the job's own words
  progress    INTEGER NOT NULL DEFAULT 0,
  note        TEXT    NOT NULL DEFAULT '',
  attempts    INTEGER NOT NULL DEFAULT 0,
  surprises   INTEGER NOT NULL DEFAULT 0,    -- unexpected failures since it last went as it should
  run_after   INTEGER NOT NULL,
  error       TEXT,
  created_at  INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX jobs_by_state ON jobs (state, run_after);
CREATE INDEX jobs_unfinished ON jobs (subject, id) WHERE state IN ('queued', 'running');
CREATE INDEX jobs_by_end ON jobs (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE events (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at INTEGER NOT NULL,
  severity   INTEGER NOT NULL,               -- syslog: 3 error, 4 warning, 5 notice, 6 information
  title      TEXT    NOT NULL,
  subject    TEXT    NOT NULL,
  actor      TEXT    NOT NULL
) STRICT;
CREATE INDEX events_by_subject ON events (subject, id);

CREATE TABLE idempotency_keys (
  actor      TEXT    NOT NULL,
  key        TEXT    NOT NULL,
  request    TEXT    NOT NULL,               -- fingerprint of method, path and parameters
  status     INTEGER,                        -- of the first answer; null until it is known
  body       TEXT,                           -- sealed: an answer may hold a secret
  created_at INTEGER NOT NULL,
  PRIMARY KEY (actor, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency_keys (created_at);

CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

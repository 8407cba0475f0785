-- Sign-ins of browsers. The cookie's value is kept as a hash only.
CREATE TABLE sessions (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  user       TEXT    NOT NULL,               -- the id of the actor
  value_mark TEXT    NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,               -- written once a minute at most
  ip         TEXT    NOT NULL,
  user_agent TEXT
) STRICT;
CREATE INDEX sessions_by_user ON sessions (user, id);

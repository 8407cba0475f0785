-- Users, controllers and actions recur all the time: an entry names them by number.
CREATE TABLE names (
  number INTEGER PRIMARY KEY,
  text   TEXT    NOT NULL UNIQUE          -- empty for nobody
) STRICT;

-- Numbered without a gap: the oldest go first.
CREATE TABLE entries (
  id         INTEGER PRIMARY KEY,
  user       INTEGER NOT NULL,
  controller INTEGER NOT NULL,
  action     INTEGER NOT NULL,
  params     TEXT    NOT NULL,            -- JSON
  created    INTEGER NOT NULL
) STRICT;
CREATE INDEX entries_by_user ON entries (user);
CREATE INDEX entries_by_controller ON entries (controller);
CREATE INDEX entries_by_action ON entries (action);
CREATE INDEX entries_by_time ON entries (created);

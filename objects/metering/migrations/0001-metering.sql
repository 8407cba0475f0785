-- What was done, to whom and when. A row is in one step only: as it grows old it is added to one of a longer step.
CREATE TABLE activity (
  kind         TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  step         INTEGER NOT NULL,          -- seconds that the row covers
  slot         INTEGER NOT NULL,          -- where they begin, seconds since 1970
  puts         INTEGER NOT NULL,
  put_bytes    INTEGER NOT NULL,
  put_ms       REAL    NOT NULL,
  gets         INTEGER NOT NULL,
  get_bytes    INTEGER NOT NULL,
  get_ms       REAL    NOT NULL,
  deletes      INTEGER NOT NULL,
  delete_bytes INTEGER NOT NULL,
  delete_ms    REAL    NOT NULL,
  PRIMARY KEY (kind, name, step, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX activity_by_age ON activity (step, slot);

-- What accounts are billed for, by day (UTC, days since 1970).
CREATE TABLE transfers (
  account   TEXT    NOT NULL,
  day       INTEGER NOT NULL,
  bytes_in  INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  puts      INTEGER NOT NULL,
  gets      INTEGER NOT NULL,
  deletes   INTEGER NOT NULL,
  others    INTEGER NOT NULL,
  PRIMARY KEY (account, day)
) STRICT, WITHOUT ROWID;

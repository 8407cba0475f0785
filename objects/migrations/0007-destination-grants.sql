-- Which accounts may replicate to a remote endpoint, and below which prefix their objects go there.
CREATE TABLE destination_grants (
  destination INTEGER NOT NULL REFERENCES destinations (id) ON DELETE CASCADE,
  account     TEXT    NOT NULL,
  key_prefix  TEXT    NOT NULL,
  revoked     INTEGER NOT NULL DEFAULT 0,   -- kept, so that a new grant finds the same prefix
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (destination, account)
) STRICT, WITHOUT ROWID;

-- 0: known before there were grants; the accounts that use it get theirs at the next start.
ALTER TABLE destinations ADD COLUMN has_grants INTEGER NOT NULL DEFAULT 0;

-- Connections went out by the machine's own routes, whatever was said.
UPDATE destinations SET connect_via = 'outnet';

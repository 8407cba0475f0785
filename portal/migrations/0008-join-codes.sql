-- Codes by which clouds on other machines join: by their hash, each for one use. Kept for a while after that, so that a
-- second use can be told from a wrong code.
CREATE TABLE join_codes (
  id INTEGER PRIMARY KEY,
  code_hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  created_by TEXT NOT NULL,
  adopts INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;

-- How far the lifecycle rules of a bucket have been applied today.
CREATE TABLE lifecycle_walks (
  bucket   INTEGER PRIMARY KEY,
  day      INTEGER NOT NULL,   -- days since 1970
  rules    TEXT    NOT NULL,   -- fingerprint of those it goes by
  position TEXT                -- JSON: where it goes on; null when it is done
) STRICT;

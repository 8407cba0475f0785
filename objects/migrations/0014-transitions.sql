-- Rules that move objects are applied by a walk of their own, which takes longer.
CREATE TABLE lifecycle_walks_of_work (
  work     TEXT    NOT NULL,   -- expiry or transitions
  bucket   INTEGER NOT NULL,
  day      INTEGER NOT NULL,   -- days since 1970
  rules    TEXT    NOT NULL,   -- fingerprint of those it goes by
  position TEXT,               -- JSON: where it goes on; null when it is done
  PRIMARY KEY (work, bucket)
) STRICT;
INSERT INTO lifecycle_walks_of_work SELECT 'expiry', bucket, day, rules, position FROM lifecycle_walks;
DROP TABLE lifecycle_walks;
ALTER TABLE lifecycle_walks_of_work RENAME TO lifecycle_walks;

-- Lines that are in no object yet, in the order in which they came.
CREATE TABLE lines (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  bucket INTEGER NOT NULL,                -- number of the bucket that was asked for
  at     INTEGER NOT NULL,
  line   TEXT    NOT NULL
) STRICT;
CREATE INDEX lines_by_bucket ON lines (bucket, id);

-- The object that is being written of a bucket's lines: whatever stops it, it is written once, under this name.
CREATE TABLE batches (
  bucket INTEGER PRIMARY KEY,
  last   INTEGER NOT NULL,                -- id of its last line
  target INTEGER NOT NULL,                -- number of the bucket it goes to
  key    TEXT    NOT NULL
) STRICT;

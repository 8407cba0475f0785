-- What each array last said of its inside, and when.
CREATE TABLE array_summaries (
  array_id  INTEGER PRIMARY KEY REFERENCES arrays (id),
  learnt_at INTEGER NOT NULL,
  summary   TEXT    NOT NULL                 -- JSON
) STRICT;

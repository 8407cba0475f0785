-- What was measured, kept over restarts. A bucket holds the sums of its time: six numbers, as `array/performance` reads
-- them. Buckets in which nothing happened are not there.
CREATE TABLE performance (
  kind   TEXT    NOT NULL,
  id     TEXT    NOT NULL,
  step   INTEGER NOT NULL,                   -- seconds a bucket is long
  bucket INTEGER NOT NULL,                   -- its place in time, counted in such steps since 1970
  sums   BLOB    NOT NULL,
  PRIMARY KEY (kind, id, step, bucket)
) STRICT, WITHOUT ROWID;

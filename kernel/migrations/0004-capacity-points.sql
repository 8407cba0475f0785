-- How full things were, an hour apart at first and coarser as it grows old (kernel/forecast).
CREATE TABLE capacity_points (
  kind       TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  at         INTEGER NOT NULL,                -- milliseconds since 1970
  used_bytes INTEGER NOT NULL,
  PRIMARY KEY (kind, id, at)
) STRICT, WITHOUT ROWID;

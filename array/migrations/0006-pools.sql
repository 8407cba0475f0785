-- How full pools were, now and then: how fast they fill is still known after a restart.
CREATE TABLE pool_samples (
  pool        TEXT    NOT NULL REFERENCES pools (name) ON DELETE CASCADE,
  taken_at    INTEGER NOT NULL,
  used_bytes  INTEGER NOT NULL,
  saved_bytes INTEGER NOT NULL,
  PRIMARY KEY (pool, taken_at)
) STRICT, WITHOUT ROWID;

-- Whoever shows a pool adds up what its volumes were promised.
CREATE INDEX volumes_by_pool_size ON volumes (pool, size_bytes);
CREATE INDEX volumes_in_bins ON volumes (pool, binned_at, name) WHERE state = 'binned';
CREATE INDEX volumes_of_mirrors ON volumes (pool, name) WHERE mirror_job IS NOT NULL;

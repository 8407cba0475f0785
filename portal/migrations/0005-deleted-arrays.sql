-- A deleted array keeps its drives, addresses and data until `purge_at`; null: it is not deleted, or goes or is gone for good.
ALTER TABLE arrays ADD COLUMN purge_at INTEGER;
-- When its cloud had removed everything of it.
ALTER TABLE arrays ADD COLUMN purged_at INTEGER;
UPDATE arrays SET purged_at = deleted_at WHERE status = 'deleted';
CREATE INDEX arrays_to_purge ON arrays (purge_at) WHERE purge_at IS NOT NULL;

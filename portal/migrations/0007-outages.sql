-- The last outage of the array that its bill accounts for, by the name its cloud gave it.
ALTER TABLE arrays ADD COLUMN outage_seen TEXT;

-- When the portal last saw the cloud's arrays: an array that was down when the cloud came up has been so since then.
ALTER TABLE clouds ADD COLUMN seen_at INTEGER;

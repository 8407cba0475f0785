-- Whether encryption is on the bill of an array, and the last change of it that the bill accounts for.
ALTER TABLE arrays ADD COLUMN encrypted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE arrays ADD COLUMN encryption_seen TEXT;

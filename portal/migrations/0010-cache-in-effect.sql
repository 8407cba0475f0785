-- The cache an array uses, as its cloud last said: what was bought may be more than the machine has.
ALTER TABLE arrays ADD COLUMN cache_mb INTEGER;

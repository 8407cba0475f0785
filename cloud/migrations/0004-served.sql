-- Whether the array's process ever served: one that did is started again for as long as it is wanted. Arrays from before
-- this was recorded had been ordered and run.
ALTER TABLE arrays ADD COLUMN served INTEGER NOT NULL DEFAULT 1;

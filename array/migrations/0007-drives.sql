-- What the cloud last told of a drive, kept for those it takes away while they are in a RAID group.
ALTER TABLE drives ADD COLUMN placed TEXT NOT NULL DEFAULT '{}';
ALTER TABLE drives ADD COLUMN is_failed INTEGER NOT NULL DEFAULT 0;      -- until it is put back into service or shredded
ALTER TABLE drives ADD COLUMN is_leaving INTEGER NOT NULL DEFAULT 0;     -- it is being given back to the cloud
ALTER TABLE drives ADD COLUMN replaces TEXT;                             -- the drive whose place it is taking

ALTER TABLE raid_groups ADD COLUMN member_gb INTEGER NOT NULL DEFAULT 0; -- what each drive of it needs to have

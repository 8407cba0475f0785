-- What the snapshot that a migration copies up to is called. Those under way from before have none that is listed.
ALTER TABLE migrations_of_volumes ADD COLUMN working_snapshot TEXT;

-- Volumes that go back to one of their snapshots: which one, while that is under way, and when it last happened.
ALTER TABLE volumes ADD COLUMN restoring TEXT;
ALTER TABLE volumes ADD COLUMN restored_at INTEGER;

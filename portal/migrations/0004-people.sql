-- A disabled user keeps everything and cannot sign in. A removed one is kept for the bills: `username` is then one that
-- nobody can choose, so that the name is free again, and `former_name` is the name the bills show.
ALTER TABLE users ADD COLUMN disabled_at INTEGER;
ALTER TABLE users ADD COLUMN removed_at  INTEGER;
ALTER TABLE users ADD COLUMN former_name TEXT;

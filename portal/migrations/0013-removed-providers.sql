-- A removed provider is kept for the bills: `name` and `key` are then ones that nobody can choose, so that both are free
-- again, and bills show the former ones.
ALTER TABLE providers ADD COLUMN removed_at  INTEGER;
ALTER TABLE providers ADD COLUMN former_name TEXT;
ALTER TABLE providers ADD COLUMN former_key  TEXT;

-- A key that no password wraps: for what asks for encryption while the array does not encrypt everything.
ALTER TABLE encryption_keys ADD COLUMN is_service INTEGER NOT NULL DEFAULT 0;

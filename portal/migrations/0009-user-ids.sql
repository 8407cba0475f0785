-- What tells a user from a later one of the same name or number, also in an older copy of this database.
ALTER TABLE users ADD COLUMN uuid TEXT;
UPDATE users SET uuid = lower(hex(randomblob(16)));
CREATE UNIQUE INDEX users_by_uuid ON users (uuid);

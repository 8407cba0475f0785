-- From when to when the array had encrypted volumes: the portal bills encryption for these times. The database writes it
-- itself, in the transaction of the change, so that no way of making or deleting volumes can miss it.
CREATE TABLE encryption_changes (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id     TEXT    NOT NULL UNIQUE,   -- never given again, not even after an older copy of the database was restored
  active INTEGER NOT NULL,
  at     INTEGER NOT NULL
) STRICT;

CREATE TRIGGER encryption_changes_kept AFTER INSERT ON encryption_changes
BEGIN
  DELETE FROM encryption_changes WHERE number <= new.number - 100;
END;

CREATE TRIGGER volumes_encrypted_first AFTER INSERT ON volumes
WHEN new.wrapped_key IS NOT NULL
  AND coalesce((SELECT active FROM encryption_changes ORDER BY number DESC LIMIT 1), 0) = 0
BEGIN
  INSERT INTO encryption_changes (id, active, at)
  VALUES (lower(hex(randomblob(16))), 1, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;

CREATE TRIGGER volumes_encrypted_last AFTER DELETE ON volumes
WHEN old.wrapped_key IS NOT NULL
  AND coalesce((SELECT active FROM encryption_changes ORDER BY number DESC LIMIT 1), 0) = 1
  AND NOT EXISTS (SELECT 1 FROM volumes WHERE wrapped_key IS NOT NULL)
BEGIN
  INSERT INTO encryption_changes (id, active, at)
  VALUES (lower(hex(randomblob(16))), 0, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;

-- Arrays that have encrypted volumes already are billed for them from now on.
INSERT INTO encryption_changes (id, active, at)
  SELECT lower(hex(randomblob(16))), 1, CAST(unixepoch('subsec') * 1000 AS INTEGER)
  WHERE EXISTS (SELECT 1 FROM volumes WHERE wrapped_key IS NOT NULL);

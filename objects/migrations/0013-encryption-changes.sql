-- From when to when encryption was active: the portal bills it for these times. The database writes it itself, in the
-- transaction of the change.
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

CREATE TRIGGER encryption_switched AFTER UPDATE OF is_active ON encryption WHEN new.is_active <> old.is_active
BEGIN
  INSERT INTO encryption_changes (id, active, at)
  VALUES (lower(hex(randomblob(16))), new.is_active, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;

-- Where it is active already it is billed from now on.
INSERT INTO encryption_changes (id, active, at)
  SELECT lower(hex(randomblob(16))), 1, CAST(unixepoch('subsec') * 1000 AS INTEGER)
  FROM encryption WHERE is_active = 1;

-- Users and groups that shares know by name. Names differ in more than case: Windows takes them for the same. The
-- password is for SMB, sealed.
CREATE TABLE nas_groups (
  name        TEXT    PRIMARY KEY COLLATE NOCASE,
  gid         INTEGER UNIQUE,
  is_smb      INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  modified_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE nas_users (
  name        TEXT    PRIMARY KEY COLLATE NOCASE,
  uid         INTEGER UNIQUE,
  password    TEXT,
  group_name  TEXT    COLLATE NOCASE REFERENCES nas_groups (name),
  created_at  INTEGER NOT NULL,
  modified_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX nas_users_by_group ON nas_users (group_name);

-- Beyond the primary group.
CREATE TABLE nas_members (
  user_name  TEXT NOT NULL COLLATE NOCASE REFERENCES nas_users (name) ON DELETE CASCADE,
  group_name TEXT NOT NULL COLLATE NOCASE REFERENCES nas_groups (name),
  PRIMARY KEY (user_name, group_name)
) STRICT, WITHOUT ROWID;
CREATE INDEX nas_members_by_group ON nas_members (group_name);

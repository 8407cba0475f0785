-- File shares. A share is a volume with a filesystem in it; what servers see of it stands here.
ALTER TABLE volumes ADD COLUMN kind TEXT NOT NULL DEFAULT 'block' CHECK (kind IN ('block', 'file'));
CREATE INDEX volumes_by_kind ON volumes (kind, name, state);

CREATE TABLE shares (
  volume                TEXT    PRIMARY KEY,
  syncs_writes          INTEGER NOT NULL,
  updates_access_times  INTEGER NOT NULL,
  read_ahead_kb         INTEGER NOT NULL,
  squashes_root         INTEGER NOT NULL,
  squashes_all          INTEGER NOT NULL,
  anonymous_uid         INTEGER NOT NULL,                      -- 0 is the usual one
  anonymous_gid         INTEGER NOT NULL,
  is_audited            INTEGER NOT NULL,
  is_smb_only           INTEGER NOT NULL,
  admits_guests         INTEGER NOT NULL,
  keeps_windows_acls    INTEGER NOT NULL,
  is_browseable         INTEGER NOT NULL,
  hides_unreadable      INTEGER NOT NULL,
  hides_unwriteable     INTEGER NOT NULL,
  hides_dot_files       INTEGER NOT NULL,
  keeps_dos_attributes  INTEGER NOT NULL,
  maps_archive          INTEGER NOT NULL,
  grants_oplocks        INTEGER NOT NULL,
  file_create_mask      TEXT    NOT NULL,                      -- octal
  directory_create_mask TEXT    NOT NULL,
  hidden_files          TEXT,
  smb_encryption        TEXT    NOT NULL,
  mangled_names         TEXT    NOT NULL,
  case_sensitive        TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- A name is held as long as its share is there to use. In the recycle bin, or on its way out, a share remembers its names,
-- and others may have them.
CREATE TABLE export_names (
  volume   TEXT    NOT NULL,
  position INTEGER NOT NULL,                                   -- 0 is the primary one
  name     TEXT    NOT NULL,
  is_held  INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (volume, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX export_names_held ON export_names (name COLLATE NOCASE) WHERE is_held = 1;

-- A share has no LUN.
CREATE TABLE attachments_with_shares (
  volume      TEXT    NOT NULL,
  server      TEXT    NOT NULL,
  access_type TEXT    NOT NULL CHECK (access_type IN ('ISCSI', 'NFS', 'SMB')),
  lun         INTEGER CHECK ((lun IS NULL) = (access_type <> 'ISCSI')),
  read_only   INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (volume, server)
) STRICT, WITHOUT ROWID;
INSERT INTO attachments_with_shares SELECT volume, server, access_type, lun, read_only, created_at FROM attachments;
DROP TABLE attachments;
ALTER TABLE attachments_with_shares RENAME TO attachments;
CREATE UNIQUE INDEX attachments_by_server ON attachments (server, lun);

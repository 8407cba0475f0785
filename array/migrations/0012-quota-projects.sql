-- Directories of a share that have a quota together. The number is what files and quotas of the share carry; none is
-- used twice in an array, so that a clone keeps those of its source.
CREATE TABLE quota_projects (
  volume       TEXT    NOT NULL REFERENCES volumes (name) ON DELETE CASCADE,
  name         TEXT    NOT NULL,                               -- project-0000000a
  number       INTEGER NOT NULL,
  display_name TEXT    NOT NULL,
  delete_job   INTEGER,                                        -- while it is being deleted
  created_at   INTEGER NOT NULL,
  modified_at  INTEGER NOT NULL,
  PRIMARY KEY (volume, name),
  UNIQUE (volume, display_name)
) STRICT, WITHOUT ROWID;

CREATE TABLE quota_directories (
  volume  TEXT    NOT NULL,
  path    TEXT    NOT NULL,
  project TEXT    NOT NULL,
  state   TEXT    NOT NULL,                                    -- adding, ready, removing
  job     INTEGER,                                             -- that adds or removes it
  PRIMARY KEY (volume, path),
  FOREIGN KEY (volume, project) REFERENCES quota_projects (volume, name) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX quota_directories_by_project ON quota_directories (volume, project);

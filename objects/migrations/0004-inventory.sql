-- When a drive or a controller first came, and what people say about storage policies.
CREATE TABLE inventory (
  kind        TEXT    NOT NULL CHECK (kind IN ('drive', 'controller', 'policy')),
  name        TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  modified_at INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE policies (
  name             TEXT    PRIMARY KEY,        -- as the portal names it
  full_description TEXT,
  month_cost       TEXT    NOT NULL DEFAULT '0',  -- price of a GB for a month, decimal
  is_default       INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX one_default_policy ON policies (is_default) WHERE is_default = 1;

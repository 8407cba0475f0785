-- Certificates of the data path: the one made at the first start, and the one that was installed.
CREATE TABLE certificates (
  kind        TEXT    PRIMARY KEY CHECK (kind IN ('default', 'installed')),
  certificate TEXT    NOT NULL,           -- PEM, with those that vouch for it
  private_key TEXT    NOT NULL,           -- sealed PEM
  made_at     INTEGER NOT NULL
) STRICT;

-- Keys that objects are encrypted with, each wrapped by what the encryption password leads to, and sealed.
CREATE TABLE encryption_keys (
  number  INTEGER PRIMARY KEY AUTOINCREMENT,
  wrapped TEXT    NOT NULL,
  made_at INTEGER NOT NULL
) STRICT;

CREATE TABLE encryption (
  id        INTEGER PRIMARY KEY CHECK (id = 1),
  verifier  TEXT    NOT NULL,             -- sealed: by what the password is known again
  is_active INTEGER NOT NULL DEFAULT 0    -- what is written is encrypted
) STRICT;

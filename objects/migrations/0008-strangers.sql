-- Codes that set a password. Several may be out at a time: one that somebody asks for takes none from a user.
CREATE TABLE password_codes (
  user       INTEGER NOT NULL REFERENCES users (number) ON DELETE CASCADE,
  mark       TEXT    NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (user, mark)
) STRICT, WITHOUT ROWID;
INSERT INTO password_codes SELECT number, code_mark, code_expires_at FROM users
  WHERE code_mark IS NOT NULL AND code_expires_at IS NOT NULL;
ALTER TABLE users DROP COLUMN code_mark;
ALTER TABLE users DROP COLUMN code_expires_at;

-- A name that is asked for already may be asked for again: who asks does not learn of the others.
DROP INDEX account_requests_pending;

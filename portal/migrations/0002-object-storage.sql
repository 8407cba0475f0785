-- How many controllers of an object storage array keep and serve data.
ALTER TABLE arrays ADD COLUMN storage_controllers INTEGER NOT NULL DEFAULT 0;

-- Opening and removing an account on the array is work that takes its time: two states more, and the first password
-- of the account's administrator for as long as the array has not taken it.
CREATE TABLE accounts_new (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  array_id        INTEGER NOT NULL REFERENCES arrays,
  user_id         INTEGER NOT NULL REFERENCES users,
  account_name    TEXT    NOT NULL,
  remote_id       TEXT,                      -- the account's id on the array, once it is there
  status          TEXT    NOT NULL CHECK (status IN ('waiting_for_approval', 'creating', 'created', 'deleting')),
  request_id      INTEGER NOT NULL,
  secrets_sealed  TEXT,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  UNIQUE (array_id, account_name)
) STRICT;
INSERT INTO accounts_new
  SELECT id, array_id, user_id, account_name, remote_id, status, request_id, NULL, created_at, updated_at
  FROM object_accounts;
DROP TABLE object_accounts;
ALTER TABLE accounts_new RENAME TO object_accounts;

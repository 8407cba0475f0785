-- Grants by mail address look for a user in all accounts: the address comes first, and the account is read from the index.
CREATE INDEX users_by_address ON users (email, account_id);

-- Second factors: the secret of an authenticator app, sealed, and marks of the recovery codes that are left.
CREATE TABLE totp_factors (
  user_id        INTEGER PRIMARY KEY REFERENCES users (id),
  secret_sealed  TEXT    NOT NULL,
  confirmed_at   INTEGER,                    -- null until a code showed that the app has the secret
  last_step      INTEGER NOT NULL,           -- codes of this time step and before were used
  recovery_marks TEXT    NOT NULL            -- JSON list
) STRICT;

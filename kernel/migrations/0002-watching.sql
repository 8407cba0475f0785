-- Events have a kind: what they are about, by default the part of their subject before the colon.
ALTER TABLE events ADD COLUMN kind TEXT NOT NULL DEFAULT '';
UPDATE events SET kind = CASE instr(subject, ':') WHEN 0 THEN subject ELSE substr(subject, 1, instr(subject, ':') - 1) END;
CREATE INDEX events_by_kind ON events (kind, id);
-- Logins come by the thousand; the two classes are kept apart, so that neither displaces the other.
CREATE INDEX events_of_logins ON events (id) WHERE kind = 'login';
CREATE INDEX events_of_others ON events (id) WHERE kind <> 'login';

-- Where events are posted to. An event is delivered when the receiver has accepted it: `delivered_event` moves on then.
CREATE TABLE webhooks (
  id                INTEGER PRIMARY KEY AUTOINCREMENT,
  name              TEXT    NOT NULL UNIQUE COLLATE NOCASE,
  url_sealed        TEXT    NOT NULL,        -- an address may hold a token
  secret_sealed     TEXT    NOT NULL,
  severity          INTEGER NOT NULL,        -- this one and worse
  kinds             TEXT,                    -- JSON list; null is all but logins
  is_enabled        INTEGER NOT NULL,
  delivered_event   INTEGER NOT NULL,        -- all up to this one are delivered, skipped or not wanted
  failures          INTEGER NOT NULL,        -- attempts in a row
  next_attempt_at   INTEGER NOT NULL,
  skipped           INTEGER NOT NULL,        -- events that were given up since it was made
  last_status       INTEGER,                 -- of HTTP
  last_error        TEXT,                    -- of the last attempt; null when it succeeded
  last_delivered_at INTEGER,
  created_at        INTEGER NOT NULL,
  modified_at       INTEGER NOT NULL
) STRICT;

-- Who created a thing may change it without being an administrator. What was there before is credited to whom the event
-- log names; null is the administrator's, and so is what a removed user leaves behind.
ALTER TABLE volumes           ADD COLUMN created_by INTEGER REFERENCES users (id) ON DELETE SET NULL;
ALTER TABLE servers           ADD COLUMN created_by INTEGER REFERENCES users (id) ON DELETE SET NULL;
ALTER TABLE snapshot_policies ADD COLUMN created_by INTEGER REFERENCES users (id) ON DELETE SET NULL;

UPDATE volumes SET created_by = (
  SELECT u.id FROM events AS e JOIN users AS u ON u.username = e.actor
  WHERE e.subject = 'volume:' || volumes.name AND (e.title LIKE '% was created: %' OR e.title LIKE '% was cloned from %')
  ORDER BY e.id LIMIT 1);
UPDATE servers SET created_by = (
  SELECT u.id FROM events AS e JOIN users AS u ON u.username = e.actor
  WHERE e.subject = 'server:' || servers.name AND e.title LIKE '% was added.' ORDER BY e.id LIMIT 1);
UPDATE snapshot_policies SET created_by = (
  SELECT u.id FROM events AS e JOIN users AS u ON u.username = e.actor
  WHERE e.subject = 'snapshot_policy:' || snapshot_policies.name AND e.title LIKE '% was created.' ORDER BY e.id LIMIT 1);

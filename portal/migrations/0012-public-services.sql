-- A public object service is made at its array: `state` says how far that is, `remote_id` is the id of its account there.
-- Services from before were records only; they have no account.
ALTER TABLE public_services ADD COLUMN state TEXT NOT NULL DEFAULT 'open';
ALTER TABLE public_services ADD COLUMN remote_id TEXT;
ALTER TABLE public_services ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;
-- What an hour costs is in the provider's prices.
ALTER TABLE public_services DROP COLUMN price;

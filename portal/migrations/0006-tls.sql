-- The certificate (PEM) by which the cloud and its arrays are known: their issuer's or authority's. NULL: they serve in
-- the clear.
ALTER TABLE clouds ADD COLUMN trusted TEXT;

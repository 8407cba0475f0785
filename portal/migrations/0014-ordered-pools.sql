-- Orders of older versions asked for mirrored pairs by default, and that had no effect: those not placed yet get none.
UPDATE arrays SET spec = json_set(spec, '$.raid_10_pools', json('false')) WHERE nova_id IS NULL;

-- How many snapshots there are, of each volume and in all ('' stands for all): counted as they come and go, so that a
-- limit does not make each one dearer than the one before.
CREATE TABLE snapshot_counts (
  volume TEXT    PRIMARY KEY,
  count  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER snapshot_added AFTER INSERT ON snapshots BEGIN
  INSERT INTO snapshot_counts VALUES (NEW.volume, 1), ('', 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER snapshot_removed AFTER DELETE ON snapshots BEGIN
  UPDATE snapshot_counts SET count = count - 1 WHERE volume IN (OLD.volume, '');
  DELETE FROM snapshot_counts WHERE volume = OLD.volume AND count = 0;
END;

-- The policy that took it: the rule that tied it to the volume may be gone.
ALTER TABLE snapshots ADD COLUMN policy TEXT;
CREATE INDEX snapshots_by_age ON snapshots (created_at, name);
CREATE INDEX snapshots_unfinished ON snapshots (volume) WHERE state <> 'ready';

-- Which rules are due is asked of each policy.
CREATE INDEX snapshot_rules_by_time ON snapshot_rules (policy, last_run_at) WHERE is_paused = 0;

CREATE INDEX migrations_under_way ON migrations_of_volumes (status, dst_pool) WHERE status IN ('Running', 'Paused');

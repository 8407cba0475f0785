-- How much a pool uses of each of its RAID groups, so that a group that leaves takes exactly its part along. Pools made
-- before are shared out in proportion to what their groups hold, in whole extents of 256 KiB.
ALTER TABLE raid_groups ADD COLUMN pool_bytes INTEGER NOT NULL DEFAULT 0;

UPDATE raid_groups SET pool_bytes = coalesce((
  SELECT (share.wanted * share.upto / share.held - share.wanted * (share.upto - share.own) / share.held) * 262144
  FROM (
    SELECT g.name,
      p.capacity_bytes / 262144 AS wanted,
      g.capacity_bytes / 262144 AS own,
      sum(g.capacity_bytes / 262144) OVER (PARTITION BY g.pool ORDER BY g.number) AS upto,
      sum(g.capacity_bytes / 262144) OVER (PARTITION BY g.pool) AS held
    FROM raid_groups AS g JOIN pools AS p ON p.name = g.pool
  ) AS share
  WHERE share.name = raid_groups.name AND share.held > 0
), 0)
WHERE pool IS NOT NULL;

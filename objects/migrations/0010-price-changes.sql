-- What things cost from a day (since 1970, UTC) on, so that reports of the past keep their prices. `item`: upload,
-- download, or policy: and the name of a storage policy. What was set before is taken as if it had always held.
CREATE TABLE price_changes (
  item     TEXT    NOT NULL,
  from_day INTEGER NOT NULL,
  price    TEXT    NOT NULL,
  PRIMARY KEY (item, from_day)
) STRICT, WITHOUT ROWID;
INSERT INTO price_changes SELECT 'policy:' || name, 0, month_cost FROM policies;
INSERT INTO price_changes
  SELECT 'upload', 0, printf('%.9f', json_extract(chosen, '$.uploadRatePerGb')) FROM array_settings
  WHERE json_extract(chosen, '$.uploadRatePerGb') IS NOT NULL;
INSERT INTO price_changes
  SELECT 'download', 0, printf('%.9f', json_extract(chosen, '$.downloadRatePerGb')) FROM array_settings
  WHERE json_extract(chosen, '$.downloadRatePerGb') IS NOT NULL;

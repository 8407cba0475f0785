-- Which array has an address in a virtual network, for as long as the array exists and whatever its VLAN: the machine
-- has each address once. Where earlier versions gave one address to two arrays, the older array keeps it.
CREATE TABLE interface_addresses (
  address TEXT    PRIMARY KEY,   -- in canonical form
  array   INTEGER NOT NULL REFERENCES arrays (number)
) STRICT, WITHOUT ROWID;
CREATE INDEX interface_addresses_by_array ON interface_addresses (array);
INSERT OR IGNORE INTO interface_addresses (address, array)
  SELECT json_extract(interface.value, '$.address'), arrays.number
  FROM arrays, json_each(arrays.spec, '$.interfaces') AS interface
  ORDER BY arrays.number;

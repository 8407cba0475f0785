-- The second address of an interface in a network of both families.
ALTER TABLE interfaces ADD COLUMN ipv6_address TEXT;
CREATE UNIQUE INDEX interfaces_by_ipv6_address ON interfaces (ipv6_address, virtual_network_id);

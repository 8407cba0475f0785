-- An administrator allowed the range although it overlaps another network, the cloud's ranges or the machine's addresses.
ALTER TABLE virtual_networks ADD COLUMN forced INTEGER NOT NULL DEFAULT 0;

-- Whether the array listens on the address, as its cloud last said, and why not.
ALTER TABLE interfaces ADD COLUMN bound INTEGER NOT NULL DEFAULT 0;
ALTER TABLE interfaces ADD COLUMN problem TEXT;
CREATE INDEX interfaces_by_address ON interfaces (address);

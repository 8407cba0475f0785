-- Times are milliseconds since the epoch, UTC. Columns named *_sealed hold secrets the vault has sealed.

CREATE TABLE users (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  username      TEXT    NOT NULL UNIQUE COLLATE NOCASE,
  email         TEXT,
  role          TEXT    NOT NULL CHECK (role IN ('admin', 'user')),
  auto_approved INTEGER NOT NULL DEFAULT 0,
  password_hash TEXT    NOT NULL,
  token_print   TEXT    NOT NULL UNIQUE,     -- fingerprint a token is found by
  token_sealed  TEXT    NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE clouds (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  name             TEXT    NOT NULL UNIQUE,
  uuid             TEXT    NOT NULL,
  enabled          INTEGER NOT NULL,
  address          TEXT    NOT NULL,         -- host:port of its process
  admin_user       TEXT    NOT NULL,
  admin_key_sealed TEXT    NOT NULL,
  inventory        TEXT    NOT NULL,         -- as last read from the cloud
  synced_at        INTEGER NOT NULL
) STRICT;

-- How the operator offers a drive type, where that differs from what the cloud says.
CREATE TABLE drive_type_offers (
  cloud_id            INTEGER NOT NULL REFERENCES clouds ON DELETE CASCADE,
  drive_type_id       INTEGER NOT NULL,
  name                TEXT,
  display_capacity_gb INTEGER,
  enabled             INTEGER,
  PRIMARY KEY (cloud_id, drive_type_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE provider_groups (
  id   INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE providers (
  id                INTEGER PRIMARY KEY AUTOINCREMENT,
  name              TEXT    NOT NULL UNIQUE,
  key               TEXT    NOT NULL UNIQUE,
  provider_group_id INTEGER REFERENCES provider_groups,
  cloud_id          INTEGER NOT NULL REFERENCES clouds,
  enabled           INTEGER NOT NULL,
  hidden            INTEGER NOT NULL DEFAULT 0,
  created_at        INTEGER NOT NULL
) STRICT;

-- Prices are never overwritten: a bill for last month uses last month's.
CREATE TABLE prices (
  provider_id      INTEGER NOT NULL REFERENCES providers ON DELETE CASCADE,
  kind             TEXT    NOT NULL,
  key              TEXT    NOT NULL,
  effective_from   INTEGER NOT NULL,
  hourly_price_usd TEXT    NOT NULL,         -- exact decimal text
  PRIMARY KEY (provider_id, kind, key, effective_from)
) STRICT, WITHOUT ROWID;

CREATE TABLE tenants (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id     INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
  provider_id INTEGER NOT NULL REFERENCES providers ON DELETE CASCADE,
  internal_id INTEGER NOT NULL,              -- numbered within the provider
  name        TEXT    NOT NULL,
  UNIQUE (user_id, provider_id),
  UNIQUE (provider_id, internal_id)
) STRICT;

CREATE TABLE arrays (
  id                      INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid                    TEXT    NOT NULL UNIQUE,
  name                    TEXT    NOT NULL,
  description             TEXT,
  status                  TEXT    NOT NULL,
  status_message          TEXT,
  progress                INTEGER NOT NULL DEFAULT 0,
  product                 TEXT    NOT NULL,
  owner_id                INTEGER NOT NULL REFERENCES users,
  provider_id             INTEGER NOT NULL REFERENCES providers,
  cloud_id                INTEGER NOT NULL REFERENCES clouds,
  spec                    TEXT    NOT NULL,  -- what the cloud was last told, without secrets and interfaces
  initial_passcode_sealed TEXT    NOT NULL,
  internal_key_sealed     TEXT    NOT NULL,
  zones                   TEXT    NOT NULL DEFAULT '[]',
  nova_id                 INTEGER,           -- null until the cloud has placed it
  internal_name           TEXT,
  management_url          TEXT,
  ip_address              TEXT,
  ipv6_address            TEXT,
  public_ip               TEXT,
  created_at              INTEGER NOT NULL,
  deleted_at              INTEGER
) STRICT;
CREATE INDEX arrays_by_owner ON arrays (owner_id, id) WHERE status <> 'deleted';
CREATE INDEX arrays_listed ON arrays (id) WHERE status <> 'deleted';
CREATE UNIQUE INDEX arrays_by_name ON arrays (owner_id, name) WHERE status <> 'deleted';

CREATE TABLE requests (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  name             TEXT    NOT NULL,
  status           TEXT    NOT NULL CHECK (status IN ('pending', 'approved', 'denied')),
  kind             TEXT    NOT NULL,
  array_id         INTEGER REFERENCES arrays,
  user_id          INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
  arguments        TEXT    NOT NULL,
  secrets_sealed   TEXT,                     -- what carrying it out needs and nobody is shown
  reason           TEXT,
  created_at       INTEGER NOT NULL,
  decided_at       INTEGER,
  decided_by       TEXT
) STRICT;
CREATE INDEX requests_by_user ON requests (user_id, id);
CREATE INDEX requests_by_status ON requests (status, id);
CREATE INDEX requests_by_array ON requests (array_id);

CREATE TABLE public_services (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  array_id        INTEGER NOT NULL UNIQUE REFERENCES arrays,
  account_name    TEXT    NOT NULL,
  username        TEXT    NOT NULL,
  password_sealed TEXT    NOT NULL,
  ip              TEXT    NOT NULL,
  host            TEXT    NOT NULL,
  auto_approve    INTEGER NOT NULL,
  price           TEXT    NOT NULL
) STRICT;

CREATE TABLE object_accounts (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  array_id     INTEGER NOT NULL REFERENCES arrays,
  user_id      INTEGER NOT NULL REFERENCES users,
  account_name TEXT    NOT NULL,
  remote_id    TEXT,                         -- the account's id on the array, once it is there
  status       TEXT    NOT NULL CHECK (status IN ('created', 'waiting_for_approval')),
  request_id   INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  UNIQUE (array_id, account_name)
) STRICT;

CREATE TABLE computes (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  provider_id  INTEGER NOT NULL REFERENCES providers ON DELETE CASCADE,
  user_id      INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
  display_name TEXT    NOT NULL,
  description  TEXT,
  cores        INTEGER NOT NULL,
  ram_gb       INTEGER NOT NULL,
  instances    INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  UNIQUE (user_id, provider_id, display_name)
) STRICT;

CREATE TABLE vlans (
  cloud_id    INTEGER NOT NULL REFERENCES clouds,
  vlan_id     INTEGER NOT NULL,
  provider_id INTEGER NOT NULL REFERENCES providers,
  is_default  INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (cloud_id, vlan_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX vlans_default ON vlans (provider_id) WHERE is_default = 1;

CREATE TABLE virtual_networks (
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  name                TEXT    NOT NULL,
  vlan_id             INTEGER NOT NULL,
  tenant_id           INTEGER NOT NULL REFERENCES tenants,
  provider_id         INTEGER NOT NULL REFERENCES providers,
  cidr                TEXT,
  gateway             TEXT,
  gateway_zone_1      TEXT,
  allocatable         TEXT,                  -- first-last
  ipv6_cidr           TEXT,
  ipv6_gateway        TEXT,
  ipv6_gateway_zone_1 TEXT,
  ipv6_allocatable    TEXT,
  default_for_tenant  INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant_id, name)
) STRICT;

CREATE INDEX virtual_networks_by_vlan ON virtual_networks (provider_id, vlan_id);

CREATE TABLE interfaces (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  array_id           INTEGER NOT NULL REFERENCES arrays,
  virtual_network_id INTEGER NOT NULL REFERENCES virtual_networks,
  address            TEXT    NOT NULL,
  attached           INTEGER NOT NULL DEFAULT 0, -- the array has been told
  UNIQUE (virtual_network_id, address),
  UNIQUE (array_id, virtual_network_id)
) STRICT;

-- What existed from when to when: a bill is the sum over these rows.
CREATE TABLE metered_items (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  array_id   INTEGER NOT NULL REFERENCES arrays,
  kind       TEXT    NOT NULL,
  key        TEXT    NOT NULL,
  quantity   INTEGER NOT NULL CHECK (quantity > 0),
  started_at INTEGER NOT NULL,
  ended_at   INTEGER
) STRICT;
CREATE INDEX metered_items_by_array ON metered_items (array_id, ended_at);
CREATE INDEX metered_items_by_time ON metered_items (started_at, ended_at);

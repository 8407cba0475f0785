import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Inventory } from '@granary/contract/cloud';
import { portalApi } from '@granary/contract/portal';
import { createApiServer, createLog, EventLog, ManualClock, Store, Vault, type Tx } from '@granary/kernel';
import type { PortalActor } from '../actor.ts';
import type { PortalHandlers } from '../handlers.ts';
import { migrations } from '../migrations.ts';
import { seedPrices } from './price-book.ts';

/** A portal's store in a folder of its own, with a clock that tests move. For tests. */
export class TestPortal {
  readonly clock = new ManualClock('2026-01-01T00:00:00Z');
  readonly events = new EventLog(this.clock);
  readonly store: Store;
  readonly #folder = mkdtempSync(join(tmpdir(), 'granary-portal-'));

  constructor() {
    this.store = new Store(join(this.#folder, 'portal.db'), migrations);
  }

  [Symbol.dispose](): void {
    this.store.close();
    rmSync(this.#folder, { recursive: true });
  }

  addUser(username: string, role: 'admin' | 'user' = 'user'): Promise<PortalActor> {
    return this.store.write((tx) => this.insertUser(tx, username, role));
  }

  addProvider(name: string, inventory = anInventory(), options: ProviderOptions = {}): Promise<number> {
    return this.store.write((tx) => this.insertProvider(tx, name, inventory, options));
  }

  addArray(owner: PortalActor, providerId: number, name = 'array'): Promise<number> {
    return this.store.write((tx) => this.insertArray(tx, owner, providerId, name));
  }

  insertUser(tx: Tx, username: string, role: 'admin' | 'user' = 'user'): PortalActor {
    const { insertedId } = tx.run(
      `INSERT INTO users (username, role, password_hash, token_print, token_sealed, created_at, updated_at)
       VALUES (:username, :role, '', :username, '', :now, :now)`,
      { username, role, now: this.clock.now() },
    );
    return { id: `user:${insertedId}`, userId: insertedId, username, role, autoApproved: false };
  }

  /** A provider on a cloud of its own, at the cloud's prices. */
  insertProvider(tx: Tx, name: string, inventory = anInventory(), options: ProviderOptions = {}): number {
    const { enabled = true, hidden = false, cloudEnabled = true } = options;
    const now = this.clock.now();
    const cloud = tx.run(
      `INSERT INTO clouds (name, uuid, enabled, address, admin_user, admin_key_sealed, inventory, synced_at)
       VALUES (:name, '', :enabled, '', '', '', :inventory, :now)`,
      { name: `cloud of ${name}`, enabled: Number(cloudEnabled), inventory: JSON.stringify(inventory), now },
    );
    const { insertedId } = tx.run(
      `INSERT INTO providers (name, key, cloud_id, enabled, hidden, created_at)
       VALUES (:name, :name, :cloudId, :enabled, :hidden, :now)`,
      { name, cloudId: cloud.insertedId, enabled: Number(enabled), hidden: Number(hidden), now },
    );
    seedPrices(tx, insertedId, inventory, now);
    return insertedId;
  }

  insertArray(tx: Tx, owner: PortalActor, providerId: number, name = 'array'): number {
    return tx.run(
      `INSERT INTO arrays (uuid, name, status, product, owner_id, provider_id, cloud_id, spec,
                           initial_passcode_sealed, internal_key_sealed, created_at)
       SELECT hex(randomblob(16)), :name, 'creating', 'storage_array', :ownerId, id, cloud_id, '{}', '', '', :now
       FROM providers WHERE id = :providerId`,
      { name, ownerId: owner.userId, providerId, now: this.clock.now() },
    ).insertedId;
  }
}

/** Serves handlers to these users, whose tokens are their names. */
export function serve(portal: TestPortal, handlers: PortalHandlers, actors: readonly PortalActor[]) {
  return createApiServer<typeof portalApi, PortalActor>({
    api: portalApi,
    handlers,
    authenticate: ({ headers }) => actors.find(({ username }) => username === headers['x-token']),
    store: portal.store,
    vault: new Vault(Buffer.alloc(32)),
    clock: portal.clock,
    log: createLog('portal', 'silent'),
    version: '0.0.0-test',
  });
}

interface ProviderOptions {
  readonly enabled?: boolean;
  readonly hidden?: boolean;
  readonly cloudEnabled?: boolean;
}

/** A cloud with two engines, one app engine and two drive types. */
export function anInventory(changes: Partial<Inventory> = {}): Inventory {
  return {
    uuid: '00000000-0000-4000-8000-000000000001',
    version: '1',
    drive_types: [aDriveType(1, 'SSD_10GB', '0.003'), aDriveType(2, 'HDD_100GB', '0.001')],
    engine_types: [anEngine(1, 'small', '0.25'), anEngine(2, 'large', '1')],
    app_engines: [
      {
        key: 'app.1',
        name: 'app',
        type: 'app.1',
        specs: '',
        vcpus: 1,
        memory_mb: 512,
        hourly_price_usd: '0.05',
        default: true,
      },
    ],
    fibre_channel: false,
    file_lifecycle: true,
    iscsi_dual_target: true,
    flash_cache: { enabled: true, increment_gb: 200, partition_gb: 20 },
    minimum_drives: 2,
    object_storage: true,
    zones: [],
    policy_types: [],
    vlans: { first: 100, last: 199 },
    cache_gb_hourly_price_usd: '0.0001',
    public_ip_hourly_price_usd: '0.004',
    ...changes,
  };
}

export function anEngine(id: number, key: string, price: string): Inventory['engine_types'][number] {
  return {
    id,
    nova_id: 100 + id,
    key,
    name: key,
    specs: '',
    hourly_price_usd: price,
    encryption_hourly_price_usd: '0.01',
    max_drives: 10,
    max_cache_gb: 1000,
    base_cache_gb: 20,
    max_flash_cache_gb: 1000,
    recommended_flash_cache_gb: 200,
  };
}

function aDriveType(id: number, key: string, price: string): Inventory['drive_types'][number] {
  return {
    id,
    key,
    name: key,
    capacity_gb: 10,
    medium: 'ssd',
    cache: false,
    order: id,
    hourly_price_usd: price,
    total: 10,
    free: 10,
    free_by_zone: {},
  };
}

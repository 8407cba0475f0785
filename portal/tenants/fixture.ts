import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createLog, EventLog, Jobs, ManualClock, readMigrations, Store, Vault } from '@granary/kernel';
import type { PortalActor } from '../actor.ts';
import { CloudConnections } from '../tls/cloud-connections.ts';
import { PortalPlace } from '../tls/place.ts';
import type { Tools } from '../tools.ts';
import { addTenantsOfProvider, addTenantsOfUser, findTenant } from './service.ts';

const migrations = readMigrations('portal', new URL('../migrations/', import.meta.url));

/** A portal's store with the real tables, and the records tests of networks and tenants begin from. */
export class Fixture {
  readonly tools: Tools;
  #arrays = 0;

  constructor(context: TestContext) {
    const folder = mkdtempSync(join(tmpdir(), 'granary-portal-'));
    const store = new Store(join(folder, 'portal.db'), migrations);
    context.after(() => {
      store.close();
      rmSync(folder, { recursive: true });
    });
    const clock = new ManualClock('2026-01-01T00:00:00Z');
    const log = createLog('portal', 'silent');
    const jobs = new Jobs({ store, clock, log });
    const connections = new CloudConnections({ clock });
    const events = new EventLog(clock);
    this.tools = {
      store,
      clock,
      log,
      jobs,
      vault: new Vault(randomBytes(32)),
      events,
      connections,
      place: new PortalPlace(),
    };
  }

  async cloud(
    name: string,
    vlans: { first: number; last: number } = { first: 1000, last: 1009 },
    reservedRanges: readonly string[] = [],
  ): Promise<number> {
    return this.#insert(
      `INSERT INTO clouds (name, uuid, enabled, address, admin_user, admin_key_sealed, inventory, synced_at)
       VALUES (:name, :name, 1, '127.0.0.1:1', 'admin', '', :inventory, 0)`,
      { name, inventory: JSON.stringify({ vlans, reserved_ranges: reservedRanges }) },
    );
  }

  async provider(key: string, cloudId: number, enabled = true): Promise<number> {
    const id = await this.#insert(
      `INSERT INTO providers (name, key, cloud_id, enabled, created_at) VALUES (:key, :key, :cloudId, :enabled, 0)`,
      { key, cloudId, enabled: Number(enabled) },
    );
    await this.tools.store.write((tx) => {
      addTenantsOfProvider(tx, id);
    });
    return id;
  }

  async user(username: string, role: PortalActor['role'] = 'user', autoApproved = false): Promise<PortalActor> {
    const userId = await this.#insert(
      `INSERT INTO users (username, role, auto_approved, password_hash, token_print, token_sealed, created_at, updated_at)
       VALUES (:username, :role, :autoApproved, '', :username, '', 0, 0)`,
      { username, role, autoApproved: Number(autoApproved) },
    );
    await this.tools.store.write((tx) => {
      addTenantsOfUser(tx, userId, username);
    });
    return { id: `user:${userId}`, userId, username, role, autoApproved };
  }

  async array(owner: PortalActor, providerId: number, name = `array-${++this.#arrays}`): Promise<number> {
    return this.#insert(
      `INSERT INTO arrays (uuid, name, status, product, owner_id, provider_id, cloud_id, spec,
         initial_passcode_sealed, internal_key_sealed, created_at)
       SELECT lower(hex(randomblob(16))), :name, 'created', 'storage_array', :ownerId, id, cloud_id, '{}', '', '', 0
       FROM providers WHERE id = :providerId`,
      { name, ownerId: owner.userId, providerId },
    );
  }

  tenantOf({ userId }: PortalActor, providerId: number): number {
    const tenant = this.tools.store.read((db) => findTenant(db, { userId, providerId }));
    if (!tenant) throw new Error(`User ${userId} has no tenant at provider ${providerId}`);
    return tenant.id;
  }

  titles(): string[] {
    const { store, events } = this.tools;
    const { messages } = store.read((db) => events.list(db, { start: 0, limit: 0, oldestFirst: true }));
    return messages.map((message) => message.msg_title);
  }

  #insert(sql: string, params: Record<string, string | number>): Promise<number> {
    return this.tools.store.write((tx) => tx.run(sql, params).insertedId);
  }
}

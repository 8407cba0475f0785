import type { CloudClient } from '@granary/client';
import type { Inventory } from '@granary/contract/cloud';
import { badParameter, bytes, fail, GB, type Db, type Page, type StartRequest, type Tx } from '@granary/kernel';
import type { CloudId } from '../ids.ts';
import { isAdmin, type PortalActor } from '../actor.ts';
import type { Tools } from '../tools.ts';
import { CloudClaims } from './claims.ts';
import type { Cloud } from './cloud.ts';
import { CloudLinks, discoverCloud, readInventory } from './links.ts';
import * as repository from './repository.ts';
import { refuseExchange, refuseTaken } from './rules.ts';
import { cloudView, driveTypesOf, type CloudView, type DriveTypeView } from './view.ts';

export interface Registration {
  readonly name: string;
  readonly enabled?: boolean | undefined;
  readonly ip: string;
  readonly admin_user: string;
  readonly admin_key: string;
  readonly fingerprint?: string | undefined;
  /** Moves it here although it belongs to another portal. */
  readonly adopt?: boolean | undefined;
}

/** A registration by a program of ours that knows the cloud's certificate. */
export interface KnownRegistration extends Registration {
  /** Null: it serves in the clear. */
  readonly trusted?: string | null | undefined;
}

interface Found {
  readonly inventory: Inventory;
  readonly trusted: string | null;
}

export interface DriveTypeChange {
  readonly name?: string | undefined;
  readonly display_capacity?: number | undefined;
  readonly enabled?: boolean | undefined;
}

/** A cloud that joins has just been started: it may be slow to answer, and who started it waits. */
const JOIN_ANSWER_MS_MAX = 15_000;

/** What other resources have to do with clouds; all but `changed` in the transaction of the change. */
export interface CloudRelations {
  providers(db: Db, cloudId: CloudId): readonly { readonly name: string }[];
  /** Arrays it hosts, or is about to. */
  countArrays(db: Db, cloudId: CloudId): number;
  /** Arrays of it that only bills name. */
  countBilled(db: Db, cloudId: CloudId): number;
  /** The cloud has another inventory: what is new in it gets a price. */
  stocked(tx: Tx, cloudId: CloudId, inventory: Inventory): void;
  /** After the commit: array records show the cloud. */
  changed(): void;
}

/** The clouds that can host arrays, as last read from them. */
export class CloudService {
  readonly #tools: Tools;
  readonly #claims: CloudClaims;
  readonly #links: CloudLinks;
  readonly #relations: CloudRelations;

  constructor(tools: Tools, relations: CloudRelations) {
    this.#tools = tools;
    this.#claims = new CloudClaims(tools.store, tools.log);
    this.#links = new CloudLinks(tools.vault, tools.connections, this.#claims);
    this.#relations = relations;
  }

  list(actor: PortalActor, page: Page): { clouds: CloudView[]; total: number } {
    return this.#tools.store.read((db) => ({
      clouds: repository
        .listClouds(db, !isAdmin(actor), page)
        .map((cloud) => cloudView(cloud, repository.listOffers(db, cloud.id))),
      total: repository.countClouds(db, !isAdmin(actor)),
    }));
  }

  get(actor: PortalActor, id: CloudId): CloudView {
    return this.#tools.store.read((db) => cloudView(this.#visible(db, actor, id), repository.listOffers(db, id)));
  }

  /** Registers a cloud that belongs to no other portal, or is moved to this one. */
  async create(registration: Registration, actor: string): Promise<number> {
    const found = await this.#discover(registration);
    const { uuid } = found.inventory;
    this.#tools.store.read((db) => refuseTaken(db, registration.name, uuid));
    const claim = await this.#claimNew(registration, found);
    const id = await this.#insert(registration, found, actor);
    this.#claims.keep(id, claim);
    return id;
  }

  async #insert(registration: KnownRegistration, found: Found, actor: string): Promise<number> {
    const { store, events } = this.#tools;
    return store.write((tx) => {
      refuseTaken(tx, registration.name, found.inventory.uuid);
      const id = repository.insertCloud(tx, this.#values(registration, found, true));
      events.record(tx, { title: `Cloud ${registration.name} was added.`, subject: `cloud:${id}`, actor });
      return id;
    });
  }

  async update(id: CloudId, registration: KnownRegistration, actor = 'system'): Promise<number> {
    const { store, events } = this.#tools;
    const before = store.read((db) => this.existing(db, id));
    const found = await this.#discover(registration, before.trusted);
    const { inventory } = found;
    const refuse = (db: Db) => {
      const cloud = this.existing(db, id);
      refuseTaken(db, registration.name, inventory.uuid, id);
      refuseExchange(cloud, inventory.uuid, () => this.#relations.countArrays(db, id));
      return cloud;
    };
    store.read(refuse);
    const claim = inventory.uuid === before.uuid ? undefined : await this.#claimNew(registration, found);
    await store.write((tx) => {
      const cloud = refuse(tx);
      repository.updateCloud(tx, id, this.#values(registration, found, cloud.enabled));
      this.#relations.stocked(tx, id, inventory);
      events.record(tx, { title: `Cloud ${registration.name} was changed.`, subject: `cloud:${id}`, actor });
      tx.afterCommit(() => this.#relations.changed());
    });
    if (claim !== undefined) this.#claims.keep(id, claim);
    return id;
  }

  /**
   * Registers a cloud that joins by a code, or the one of that name anew. It is looked at by the certificate that it shows
   * now and known by the one that was signed for it; `along` is part of the same transaction.
   */
  async join(registration: KnownRegistration, signed: string, along: (tx: Tx, id: CloudId) => void): Promise<number> {
    const { store } = this.#tools;
    const found = await this.#discover(registration, undefined, JOIN_ANSWER_MS_MAX);
    const { inventory } = found;
    const refuse = (db: Db) => {
      const known = repository.findCloudByName(db, registration.name);
      refuseTaken(db, registration.name, inventory.uuid, known?.id);
      if (known) refuseExchange(known, inventory.uuid, () => this.#relations.countArrays(db, known.id));
      return known;
    };
    store.read(refuse);
    const claim = await this.#claimNew(registration, found);
    const joined = await store.write((tx) => {
      const known = refuse(tx);
      const values = this.#values(registration, { inventory, trusted: signed }, known?.enabled ?? true);
      if (known) repository.updateCloud(tx, known.id, values);
      const id = known?.id ?? repository.insertCloud(tx, values);
      this.#relations.stocked(tx, id, inventory);
      along(tx, id);
      tx.afterCommit(() => this.#relations.changed());
      return id;
    });
    this.#claims.keep(joined, claim);
    return joined;
  }

  /** Moves a cloud to this portal: from now on it refuses the one that it belonged to. */
  async adopt(id: CloudId, actor: PortalActor): Promise<void> {
    const { store, events } = this.#tools;
    const { name } = store.read((db) => this.existing(db, id));
    await this.#claims.claim(id, this.link(id), true);
    const title = `Cloud ${name} was moved to this portal.`;
    await store.write((tx) =>
      events.record(tx, { title, subject: `cloud:${id}`, actor: actor.username, severity: 'warning' }),
    );
  }

  /** Resolves when the cloud takes commands from this portal; rejects with the reason when it does not. */
  async claimed(id: CloudId): Promise<void> {
    if (!this.#claims.isHeld(id)) await this.#claims.claim(id, this.link(id), false);
  }

  /** Claims every cloud on record, so that the first command finds it claimed. Renews claims that are held. */
  async claimAll(): Promise<void> {
    const clouds = this.#tools.store.read((db) => repository.listClouds(db, false, { start: 0, limit: 0 }));
    await Promise.all(clouds.map(({ id, name }) => this.#claims.claimQuietly(id, name, this.link(id))));
  }

  async delete(id: CloudId, actor: PortalActor): Promise<void> {
    const { store, events } = this.#tools;
    await store.write((tx) => {
      const { name } = this.existing(tx, id);
      const providers = this.#relations.providers(tx, id);
      if (providers.length > 0) {
        const by = `provider ${providers.map((provider) => provider.name).join(', ')} sells it; delete that first`;
        throw fail('in_use', { kind: 'Cloud', id: name, by });
      }
      const billed = this.#relations.countBilled(tx, id);
      if (billed > 0) {
        const by = `${billed} deleted arrays of it are on bills; set enabled=false instead`;
        throw fail('in_use', { kind: 'Cloud', id: name, by });
      }
      repository.deleteCloud(tx, id);
      events.record(tx, { title: `Cloud ${name} was removed.`, subject: `cloud:${id}`, actor: actor.username });
    });
  }

  driveTypes(actor: PortalActor, cloudId: CloudId): DriveTypeView[] {
    return this.#tools.store.read((db) => {
      const types = driveTypesOf(this.#visible(db, actor, cloudId).inventory, repository.listOffers(db, cloudId));
      return isAdmin(actor) ? types : types.filter(({ enabled }) => enabled);
    });
  }

  driveType(actor: PortalActor, cloudId: CloudId, driveTypeId: number): DriveTypeView {
    const type = this.driveTypes(actor, cloudId).find(({ id }) => id === driveTypeId);
    if (!type) throw fail('not_found', { kind: 'drive type', id: driveTypeId });
    return type;
  }

  async updateDriveType(
    cloudId: CloudId,
    driveTypeId: number,
    change: DriveTypeChange,
    actor: PortalActor,
  ): Promise<DriveTypeView> {
    const { store, events } = this.#tools;
    await store.write((tx) => {
      const type = this.driveType(actor, cloudId, driveTypeId);
      const known = repository.listOffers(tx, cloudId).find((offer) => offer.driveTypeId === driveTypeId);
      repository.saveOffer(tx, {
        cloudId,
        driveTypeId,
        name: change.name ?? known?.name ?? null,
        displayCapacity:
          change.display_capacity === undefined
            ? (known?.displayCapacity ?? null)
            : bytes(change.display_capacity * GB),
        enabled: change.enabled ?? known?.enabled ?? null,
      });
      events.record(tx, {
        title: `Drive type ${type.key} was changed.`,
        subject: `cloud:${cloudId}`,
        actor: actor.username,
      });
    });
    return this.driveType(actor, cloudId, driveTypeId);
  }

  /** Drive types the operator has closed can be kept, not ordered. */
  refuseClosedDriveTypes(cloudId: CloudId, drives: Readonly<Record<string, number>>): void {
    const types = this.#tools.store.read((db) =>
      driveTypesOf(this.existing(db, cloudId).inventory, repository.listOffers(db, cloudId)),
    );
    const closed = types.find(({ key, enabled }) => !enabled && Object.hasOwn(drives, key));
    if (closed) throw badParameter('drives', `names ${closed.key}, which is not offered at present`);
  }

  existing(db: Db, id: CloudId): Cloud {
    const cloud = repository.findCloud(db, id);
    if (!cloud) throw fail('not_found', { kind: 'cloud', id });
    return cloud;
  }

  link(id: CloudId): CloudClient {
    return this.#links.to(this.#tools.store.read((db) => this.existing(db, id)));
  }

  /** A way to one of its arrays: the portal's key goes to that array and to no other server. */
  fetchToArray({ cloudId, uuid }: { readonly cloudId: CloudId; readonly uuid: string }): typeof fetch {
    const { trusted } = this.#tools.store.read((db) => this.existing(db, cloudId));
    return this.#tools.connections.fetchTo(trusted, 'array', uuid);
  }

  /** The same way, for requests that are passed on as they stream. */
  requestsToArray({ cloudId, uuid }: { readonly cloudId: CloudId; readonly uuid: string }): StartRequest {
    const { trusted } = this.#tools.store.read((db) => this.existing(db, cloudId));
    return this.#tools.connections.requestsTo(trusted, 'array', uuid);
  }

  /** What the cloud has at this moment: stock changes with every order. */
  async freshInventory(id: CloudId): Promise<Inventory> {
    const { store, vault, clock } = this.#tools;
    const cloud = store.read((db) => this.existing(db, id));
    const key = vault.unseal(cloud.adminKeySealed);
    const { address, trusted } = cloud;
    const inventory = await readInventory(this.#tools.connections, { address, user: cloud.adminUser, key, trusted });
    // Reinstalled, or another machine: it does not have the arrays this one had.
    if (inventory.uuid !== cloud.uuid)
      throw fail('cloud_unreachable', { address, reason: 'another cloud answers there' });
    if (JSON.stringify(inventory) !== JSON.stringify(cloud.inventory)) {
      await store.write((tx) => {
        repository.updateInventory(tx, id, inventory, clock.now());
        this.#relations.stocked(tx, id, inventory);
        if (offerOf(inventory) !== offerOf(cloud.inventory)) tx.afterCommit(() => this.#relations.changed());
      });
    }
    return inventory;
  }

  /** Reads what the cloud has now; if it does not answer, what it last said stands. */
  async refresh(id: CloudId): Promise<void> {
    try {
      await this.freshInventory(id);
    } catch (error) {
      this.#tools.log.warn({ error, cloud: id }, 'the inventory of a cloud could not be read');
    }
  }

  /** At each start: the cloud inside this process may have another port than last time. True when it is new. */
  async ensureLocal(registration: KnownRegistration): Promise<{ id: CloudId; isNew: boolean }> {
    const found = await this.#discover(registration);
    const known = this.#tools.store.read((db) => repository.findCloudByUuid(db, found.inventory.uuid));
    if (!known) {
      // One that belonged to a portal whose data is gone is on record, so that it can be adopted.
      const id = await this.#insert(registration, found, 'system');
      await this.#claims.claimQuietly(id, registration.name, this.link(id));
      return { id, isNew: true };
    }
    return {
      id: await this.update(known.id, { ...registration, name: known.name, enabled: known.enabled }),
      isNew: false,
    };
  }

  #visible(db: Db, actor: PortalActor, id: CloudId): Cloud {
    const cloud = repository.findCloud(db, id, !isAdmin(actor));
    if (!cloud) throw fail('not_found', { kind: 'cloud', id });
    return cloud;
  }

  /** `before` is what is trusted for the cloud on record. */
  async #discover(registration: KnownRegistration, before?: string | null, timeoutMs?: number): Promise<Found> {
    const { ip: address, admin_user: user, admin_key: key, fingerprint, trusted } = registration;
    const { connections } = this.#tools;
    if (trusted === undefined) return discoverCloud(connections, { address, user, key, fingerprint, trusted: before });
    return { trusted, inventory: await readInventory(connections, { address, user, key, trusted }, timeoutMs) };
  }

  #claimNew({ ip: address, admin_user: user, admin_key: key, adopt }: Registration, { trusted }: Found) {
    return this.#links.claimNew({ address, user, key, trusted }, adopt === true);
  }

  #values(registration: Registration, { inventory, trusted }: Found, enabledDefault: boolean): repository.CloudValues {
    return {
      name: registration.name,
      enabled: registration.enabled ?? enabledDefault,
      address: registration.ip,
      adminUser: registration.admin_user,
      adminKeySealed: this.#tools.vault.seal(registration.admin_key),
      inventory,
      trusted,
      syncedAt: this.#tools.clock.now(),
    };
  }
}

/** What an inventory offers, without how much of it is free: that changes with every order and shows in no record. */
function offerOf(inventory: Inventory): string {
  const types = inventory.drive_types.map(({ key, name, capacity_gb, medium }) => [key, name, capacity_gb, medium]);
  return JSON.stringify({ ...inventory, drive_types: types });
}

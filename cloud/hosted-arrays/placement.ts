import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArraySpec } from '@granary/contract/cloud';
import {
  fail,
  type Clock,
  type EventLog,
  type GivenBack,
  type Log,
  type Store,
  type Tx,
  type Vault,
} from '@granary/kernel';
import type { AddressAllocator } from '../addresses/allocator.ts';
import { listOwned } from '../addresses/repository.ts';
import type { Config } from '../config/schema.ts';
import type { DriveFiles } from '../inventory/drive-files.ts';
import type { PlacedDrive } from '../inventory/drive.ts';
import { listDrives, listDrivesOf, markFileMade, releaseDrivesOf } from '../inventory/repository.ts';
import { assignDrives } from './drive-orders.ts';
import { reclaimDrive, reclaimProxies, withoutReturned } from './returns.ts';
import { claimInterfaces } from './interface-rules.ts';
import {
  countArrays,
  deleteArray,
  findArray,
  insertArray,
  isAddressTaken,
  isPublicAddressTaken,
  lastNumber,
  listArrays,
  updateArray,
  type HostedRecord,
} from './repository.ts';
import { sealSecrets, withoutSecrets } from './secrets.ts';
import { checkSpec } from './spec-rules.ts';

interface PlacementOptions {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly log: Log;
  readonly config: Config;
  readonly addresses: AddressAllocator;
  /** Where the cloud itself listens. */
  readonly host: string;
  /** What the machine's own network interfaces have. */
  readonly machineAddresses: () => readonly string[];
  readonly files: DriveFiles;
  /** Holds one folder an array. */
  readonly folder: string;
  /** What the folders of arrays say of them. */
  readonly records: { follow(): Promise<void> };
  /** After a restore the database may be older than the drives: files that it takes for free are kept. */
  readonly keepsFreeFiles: boolean;
}

/**
 * Where arrays are: their row, address, drives and folder. The database is changed first, in one transaction, and
 * the disk follows; at a start whatever a crash left undone is done.
 */
export class Placement {
  readonly #options: PlacementOptions;

  constructor(options: PlacementOptions) {
    this.#options = options;
  }

  folderOf({ internalName }: HostedRecord): string {
    return join(this.#options.folder, internalName);
  }

  find(uuid: string): HostedRecord | undefined {
    return this.#options.store.read((db) => findArray(db, uuid));
  }

  drivesOf({ number }: HostedRecord): PlacedDrive[] {
    return this.#options.store.read((db) => listDrivesOf(db, number));
  }

  /** The addresses in virtual networks that are the array's. */
  addressesOf({ number }: HostedRecord): string[] {
    return this.#options.store.read((db) => listOwned(db, number));
  }

  /** Makes the array be what the spec says; the same again changes nothing. */
  async place(uuid: string, given: ArraySpec, desired: 'running' | 'stopped' | undefined): Promise<HostedRecord> {
    const { store, config } = this.#options;
    const before = this.find(uuid);
    refuseRemoving(before);
    const spec = withoutReturned(given, before);
    checkSpec(config, withoutSecrets(spec), before);
    const management = before?.management ?? (await this.#newAddress());
    const publicAddress = spec.public_ip
      ? (before?.publicAddress ?? (await this.#newPublicAddress(management.port)))
      : null;
    const placed = await store.write((tx) => {
      const array = before ?? this.#insert(tx, uuid, spec, management);
      return this.#update(tx, array, spec, desired ?? array.desired, publicAddress);
    });
    await this.#makeFiles(placed);
    await this.#options.records.follow();
    return placed;
  }

  async reclaim(array: HostedRecord, what: GivenBack): Promise<void> {
    await ('drive' in what ? this.#reclaimDrive(array, what.drive) : this.#reclaimProxies(array, what.proxiesKept));
    await this.#options.records.follow();
  }

  /** A drive that the array no longer uses is free again, and its bytes are gone. */
  async #reclaimDrive(array: HostedRecord, drive: string): Promise<void> {
    const { store, events, files, config } = this.#options;
    const row = await store.write((tx) => {
      const taken = reclaimDrive(tx, array, drive, config.minimum_drives);
      const title = `Array ${array.internalName} gave a ${taken.type} back.`;
      events.record(tx, { severity: 'notice', title, subject: `array:${array.uuid}` });
      return taken;
    });
    await files.remove([row]);
  }

  async #reclaimProxies(array: HostedRecord, kept: number): Promise<void> {
    const { store, events } = this.#options;
    await store.write((tx) => {
      const taken = reclaimProxies(tx, array, kept);
      if (taken === 0) return;
      const title = `Array ${array.internalName} gave ${taken} proxy controllers back.`;
      events.record(tx, { severity: 'notice', title, subject: `array:${array.uuid}` });
    });
  }

  /** Everything an array had: its folder, the files of its drives, then its row. The drives are free after it. */
  async remove(array: HostedRecord): Promise<void> {
    const { store, events, files } = this.#options;
    // A process of a cloud that was killed may be writing there for another moment.
    await rm(this.folderOf(array), { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    await files.remove(this.drivesOf(array));
    await store.write((tx) => {
      const freed = releaseDrivesOf(tx, array.number);
      deleteArray(tx, array.number);
      const title = `Array ${array.internalName} was removed; ${freed} drives are free again.`;
      events.record(tx, { severity: 'notice', title, subject: `array:${array.uuid}` });
    });
  }

  /**
   * After a start: finishes what a crash cut off. An array whose files cannot be had (a disk that is full or broken)
   * must not keep the others down: why it cannot run is returned, by its uuid.
   */
  async repair(): Promise<ReadonlyMap<string, string>> {
    const problems = new Map<string, string>();
    for (const array of this.#options.store.read(listArrays)) {
      const problem = await (array.removing ? this.#removeLeftover(array) : this.#repairFiles(array));
      if (problem !== undefined) problems.set(array.uuid, problem);
    }
    if (!this.#options.keepsFreeFiles) await this.#removeFreeFiles();
    await this.#options.records.follow();
    return problems;
  }

  async #removeLeftover(array: HostedRecord): Promise<undefined> {
    try {
      await this.remove(array);
    } catch (error) {
      this.#options.log.error({ error, array: array.internalName }, 'an array could not be removed; delete it again');
    }
  }

  async #repairFiles(array: HostedRecord): Promise<string | undefined> {
    try {
      await this.#makeFiles(array);
      return undefined;
    } catch (error) {
      this.#options.log.error({ error, array: array.internalName }, 'the files of an array could not be made');
      return `The files of its drives could not be made: ${(error as Error).message}. Restore it to try again.`;
    }
  }

  async #removeFreeFiles(): Promise<void> {
    const { store, files, log } = this.#options;
    const free = new Set(store.read(listDrives).flatMap(({ uuid, array }) => (array === null ? [uuid] : [])));
    const surplus = (await files.list()).filter(({ uuid }) => uuid !== undefined && free.has(uuid));
    for (const { path } of surplus)
      await rm(path, { recursive: true }).catch((error: unknown) =>
        log.error({ error, path }, 'a free drive could not be removed'),
      );
  }

  async #newAddress(): Promise<HostedRecord['management']> {
    const { store, config, addresses } = this.#options;
    if (store.read(countArrays) >= config.arrays_max) throw fail('cloud_arrays_limit', { max: config.arrays_max });
    return addresses.forArray(store.read(lastNumber), (address) => store.read((db) => isAddressTaken(db, address)));
  }

  async #newPublicAddress(port: number): Promise<string> {
    const { store, addresses } = this.#options;
    return addresses.publicFor(store.read(lastNumber), port, (host) =>
      store.read((db) => isPublicAddressTaken(db, host)),
    );
  }

  #insert(tx: Tx, uuid: string, spec: ArraySpec, management: HostedRecord['management']): HostedRecord {
    const { vault, clock, events } = this.#options;
    const array = insertArray(tx, {
      uuid,
      product: spec.product,
      management,
      // Their addresses become the array's own with the update that follows.
      spec: { ...withoutSecrets(spec), interfaces: [] },
      sealedSecrets: sealSecrets(vault, spec, undefined),
      now: clock.now(),
    });
    const title = `Array ${array.internalName} (${spec.name}) was placed at ${management.host}:${management.port}.`;
    events.record(tx, { severity: 'notice', title, subject: `array:${uuid}` });
    return array;
  }

  #update(
    tx: Tx,
    array: HostedRecord,
    spec: ArraySpec,
    desired: 'running' | 'stopped',
    publicAddress: string | null,
  ): HostedRecord {
    const { vault, events, config, addresses, host, machineAddresses } = this.#options;
    const kept = withoutSecrets(spec);
    const rangeOf = (address: string) => addresses.rangeOf(address);
    claimInterfaces(tx, array, spec.interfaces, { host, rangeOf, machineAddresses });
    const { zone, drivesGiven, assigned } = assignDrives(tx, config, array, kept);
    const sealedSecrets = sealSecrets(vault, spec, array);
    updateArray(tx, array.number, { desired, publicAddress, spec: kept, sealedSecrets, zone, drivesGiven });
    if (assigned > 0) {
      const title = `Array ${array.internalName} was given ${assigned} drives.`;
      events.record(tx, { title, subject: `array:${array.uuid}` });
    }
    return findArray(tx, array.uuid) as HostedRecord;
  }

  async #makeFiles(array: HostedRecord): Promise<void> {
    const { store, files } = this.#options;
    await mkdir(this.folderOf(array), { recursive: true, mode: 0o700 });
    const fresh = this.drivesOf(array).filter(({ hasFile }) => !hasFile);
    if (fresh.length === 0) return;
    await files.make(fresh, array.product === 'object_storage' ? 'folder' : 'file');
    await store.write((tx) => {
      for (const { uuid } of fresh) markFileMade(tx, uuid);
    });
  }
}

export function refuseRemoving(array: HostedRecord | undefined): void {
  if (!array?.removing) return;
  const facts = { kind: 'Array', id: array.uuid, state: 'being removed', action: 'a change', needed: 'kept' };
  throw fail('wrong_state', facts);
}

import type { ArraySpec, HostedArray } from '@granary/contract/cloud';
import {
  fail,
  wholeMegabytes,
  type Clock,
  type EventLog,
  type GivenBack,
  type HostedConfiguration,
  type Issuer,
  type Locks,
  type Log,
  type Store,
} from '@granary/kernel';
import type { PlacedDrive } from '../inventory/drive.ts';
import { listPlacedDrives } from '../inventory/repository.ts';
import type { SupervisedArray } from '../supervision/supervised-array.ts';
import type { ArrayCounts, Supervisor } from '../supervision/supervisor.ts';
import { configurationOf, homeOf, hostedDrive, managementUrlOf, type ConfigurationSources } from './configuration.ts';
import { cacheBytesOf } from './limits.ts';
import { refuseRemoving, type Placement } from './placement.ts';
import { findArray, listArrays, markRemoving, type HostedRecord } from './repository.ts';
import { unsealSecrets } from './secrets.ts';
import { viewOf } from './view.ts';

/** Held while drives or their files move, so that no reader sees the database and the disk differ. */
export const PLACEMENT_LOCK = 'placement';

interface HostedArraysOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly log: Log;
  readonly locks: Locks;
  readonly placement: Placement;
  readonly supervisor: Supervisor;
  readonly sources: ConfigurationSources;
}

interface Wish {
  readonly spec: ArraySpec;
  readonly desired?: 'running' | 'stopped' | undefined;
}

/** The life of the arrays a cloud hosts. What is asked of one array is done in the order it was asked. */
export class HostedArrays {
  readonly #options: HostedArraysOptions;
  readonly #removals = new Map<string, Promise<void>>();

  constructor(options: HostedArraysOptions) {
    this.#options = options;
  }

  list(): HostedArray[] {
    const { store } = this.#options;
    const drives = Map.groupBy(store.read(listPlacedDrives), ({ array }) => array);
    return store.read(listArrays).map((array) => this.#viewOf(array, drives.get(array.number) ?? []));
  }

  get(uuid: string): HostedArray {
    const array = this.#options.placement.find(uuid);
    if (!array) throw fail('not_found', { kind: 'array', id: uuid });
    return this.#viewOf(array);
  }

  /** The array as the portal last described it. */
  specOf(uuid: string): ArraySpec {
    const { placement, sources } = this.#options;
    const array = placement.find(uuid);
    if (!array) throw fail('not_found', { kind: 'array', id: uuid });
    const { initialPasscode, internalKey } = unsealSecrets(sources.vault, array);
    const { drives_returned = {}, policy_drives_returned = {}, proxies_returned = 0 } = array.spec;
    return {
      ...array.spec,
      drives_returned,
      policy_drives_returned,
      proxies_returned,
      initial_passcode: initialPasscode,
      internal_key: internalKey,
    };
  }

  async put(uuid: string, { spec, desired }: Wish): Promise<HostedArray> {
    const { locks, placement } = this.#options;
    // Answered at once: the removal may hold the lock for a while.
    refuseRemoving(placement.find(uuid));
    return locks.run(uuid, async () => {
      const array = await locks.run(PLACEMENT_LOCK, () => placement.place(uuid, spec, desired));
      await this.#follow(array, desired === 'running');
      return this.#viewOf(array);
    });
  }

  /** The array on its way out, or nothing once it is gone. */
  async remove(uuid: string): Promise<HostedArray | undefined> {
    const { locks, placement } = this.#options;
    const found = placement.find(uuid);
    const array = !found || found.removing ? found : await locks.run(uuid, () => this.#markRemoving(uuid));
    if (!array) return undefined;
    this.#finishRemoval(array);
    return this.#viewOf(array);
  }

  /** An array gives something back. Null when it was reclaimed: then the array has been notified. */
  async reclaim(uuid: string, what: GivenBack): Promise<string | null> {
    const { locks, placement, log } = this.#options;
    try {
      await locks.run(uuid, async () => {
        const array = placement.find(uuid);
        refuseRemoving(array);
        if (!array) throw fail('not_found', { kind: 'array', id: uuid });
        await locks.run(PLACEMENT_LOCK, () => placement.reclaim(array, what));
        await this.#follow(placement.find(uuid) ?? array, false);
      });
      return null;
    } catch (error) {
      log.warn({ error, array: uuid, ...what }, 'what an array gave back could not be taken');
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** After a start: every array as it was, at the address it had; those with a problem say so instead. */
  async startAll(problems: ReadonlyMap<string, string>): Promise<void> {
    const { store } = this.#options;
    const arrays = store.read(listArrays).filter(({ removing }) => !removing);
    for (const array of arrays) {
      const problem = array.desired === 'running' ? problems.get(array.uuid) : undefined;
      if (problem === undefined) await this.#follow(array, true);
      else (await this.#supervised(array)).fail(problem);
    }
  }

  /** Tells every array whose certificate ends soon its next one. */
  async renewCertificates(): Promise<void> {
    const { store, locks, placement, sources, log } = this.#options;
    const due = store.read(listArrays).filter((array) => !array.removing && sources.certificates?.isDue(array));
    for (const { uuid, internalName } of due) {
      try {
        await locks.run(uuid, async () => {
          const array = placement.find(uuid);
          if (array && !array.removing) await this.#follow(array, false);
        });
        log.info({ array: internalName }, 'the certificate of an array was renewed');
      } catch (error) {
        log.error({ error, array: internalName }, 'the certificate of an array could not be renewed');
      }
    }
  }

  async useIssuer(issuer: Issuer): Promise<void> {
    this.#options.sources.certificates?.useIssuer(issuer);
    await this.renewCertificates();
  }

  counts(): ArrayCounts {
    return this.#options.supervisor.counts();
  }

  async stop(): Promise<void> {
    await this.#options.locks.idle();
    await this.#options.supervisor.stopAll();
  }

  async #follow(array: HostedRecord, retryFailed: boolean): Promise<void> {
    const supervised = await this.#supervised(array);
    if (array.desired === 'running') {
      if (supervised.state !== 'failed' || retryFailed) supervised.start();
    } else if (supervised.state !== 'stopped') {
      void supervised.stop();
    }
  }

  #supervised(array: HostedRecord): Promise<SupervisedArray> {
    return this.#options.supervisor.describe(array.product, this.#configurationOf(array), array.served);
  }

  #configurationOf(array: HostedRecord): HostedConfiguration {
    const { placement, sources } = this.#options;
    const place = {
      rows: placement.drivesOf(array),
      owned: placement.addressesOf(array),
      folder: placement.folderOf(array),
    };
    return configurationOf(array, place, sources);
  }

  #markRemoving(uuid: string): Promise<HostedRecord | undefined> {
    const { store, events } = this.#options;
    return store.write((tx) => {
      const found = findArray(tx, uuid);
      if (!found || found.removing) return found;
      markRemoving(tx, found.number);
      events.record(tx, { title: `Array ${found.internalName} is being removed.`, subject: `array:${uuid}` });
      return findArray(tx, uuid);
    });
  }

  #finishRemoval(array: HostedRecord): void {
    const { locks, placement, supervisor, sources, log } = this.#options;
    const { uuid, internalName } = array;
    if (this.#removals.has(uuid)) return;
    const removal = locks
      .run(uuid, async () => {
        await supervisor.remove(uuid);
        sources.certificates?.drop(uuid);
        await locks.run(PLACEMENT_LOCK, () => placement.remove(array));
        log.info({ array: internalName, uuid }, 'an array was removed');
      })
      .catch((error: unknown) => log.error({ error, array: internalName }, 'an array could not be removed; ask again'))
      .finally(() => this.#removals.delete(uuid));
    this.#removals.set(uuid, removal);
  }

  #viewOf(array: HostedRecord, rows?: readonly PlacedDrive[]): HostedArray {
    const { placement, sources, supervisor, clock } = this.#options;
    const drives = (rows ?? placement.drivesOf(array)).map((row) => hostedDrive(row, sources));
    return viewOf({
      array,
      drives,
      home: homeOf(array, drives, sources.config),
      managementUrl: managementUrlOf(array, sources.certificates !== undefined),
      cacheMb: wholeMegabytes(cacheBytesOf(sources.config, array.spec)),
      owned: placement.addressesOf(array),
      supervised: supervisor.get(array.uuid),
      encryption: supervisor.encryptionOf(array.uuid) ?? array.encryption,
      now: supervisor.now(),
      today: clock.now(),
    });
  }
}

import type { HostedDrive, Tx } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import { nextName } from '../sequences/repository.ts';
import type { ArrayTools } from '../tools.ts';
import { called, listed } from '../wording.ts';
import * as repository from './repository.ts';
import type { DriveRecord } from './record.ts';

/** Follows what the cloud places: new drives get a name, free ones it took back are forgotten, the others are absent. */
export class DrivePlacements {
  readonly #tools: ArrayTools;
  readonly #onRemoved: (uuid: string) => void;
  #placed: ReadonlyMap<string, HostedDrive> | undefined;

  constructor(tools: ArrayTools, onForgotten: (uuid: string) => void) {
    this.#tools = tools;
    this.#onRemoved = onForgotten;
  }

  find(uuid: string): HostedDrive | undefined {
    return this.#placed?.get(uuid);
  }

  async follow(placed: readonly HostedDrive[]): Promise<void> {
    const before = this.#placed;
    const after = new Map(placed.map((drive) => [drive.uuid, drive]));
    // Both until the records are written, so that a listing meanwhile finds every recorded drive.
    this.#placed = new Map([...(before ?? []), ...after]);
    const drives = await this.#tools.store.write((tx) => this.#write(tx, placed, before));
    this.#placed = after;
    if (before === undefined) return;
    for (const record of drives)
      if (after.has(record.uuid) && !before.has(record.uuid)) await this.#applyToEngine(record);
  }

  removeAbsent(tx: Tx): void {
    if (this.#placed === undefined) return;
    const isForgotten = ({ uuid, raidGroup: group }: DriveRecord) => group === null && !this.find(uuid);
    this.#remove(tx, repository.listDrives(tx).filter(isForgotten));
  }

  /** The engine keeps neither who is out of service nor what was being given back. */
  async reconcile(): Promise<void> {
    const { store, clock, readings } = this.#tools;
    const drives = store.read((db) => repository.listDrives(db));
    const works = ({ uuid }: DriveRecord) => ['online', 'rebuilding'].includes(readings.drive(uuid)?.state ?? '');
    const leaving = drives.filter(({ isLeaving }) => isLeaving);
    const recovered = drives.filter((drive) => drive.isFailed && drive.raidGroup !== null && works(drive));
    if (leaving.length + recovered.length > 0)
      await store.write((tx) => {
        for (const { name } of leaving) repository.updateDrive(tx, name, { isLeaving: false }, clock.now());
        for (const { name } of recovered) repository.updateDrive(tx, name, { isFailed: false }, clock.now());
      });
    for (const record of drives) if (record.isOffline && this.find(record.uuid)) await this.#applyToEngine(record);
  }

  /** The rows there were before. */
  #write(tx: Tx, placed: readonly HostedDrive[], before: ReadonlyMap<string, HostedDrive> | undefined): DriveRecord[] {
    const drives = repository.listDrives(tx);
    const known = new Map(drives.map((drive) => [drive.uuid, drive]));
    const uuids = new Set(placed.map(({ uuid }) => uuid));
    this.#remove(
      tx,
      drives.filter(({ uuid, raidGroup: group }) => !uuids.has(uuid) && group === null),
    );
    for (const record of drives)
      if (!uuids.has(record.uuid) && before?.has(record.uuid)) this.#recordAbsence(tx, record);
    for (const drive of placed) {
      const recorded = known.get(drive.uuid);
      if (recorded && JSON.stringify(recorded.placed) !== JSON.stringify(drive))
        repository.setPlaced(tx, recorded.name, drive);
    }
    this.#add(
      tx,
      placed.filter(({ uuid }) => !known.has(uuid)).toSorted((a, b) => a.number - b.number),
    );
    return drives;
  }

  #remove(tx: Tx, gone: readonly DriveRecord[]): void {
    for (const { name } of gone) repository.deleteDrive(tx, name);
    const taken = gone.filter(({ isLeaving }) => !isLeaving);
    tx.afterCommit(() => {
      for (const { uuid } of gone) this.#onRemoved(uuid);
    });
    if (taken.length === 0) return;
    const title = `${wordsFor(taken)} taken away by the cloud and forgotten.`;
    this.#tools.events.record(tx, { title, kind: 'drive', subject: 'drives', severity: 'notice' });
  }

  #recordAbsence(tx: Tx, drive: DriveRecord): void {
    if (drive.raidGroup === null) return;
    const title = `Drive ${called(drive)} of RAID group ${drive.raidGroup} is absent: the cloud took it away.`;
    this.#tools.events.record(tx, { title, subject: `drive:${drive.name}`, severity: 'error' });
  }

  #add(tx: Tx, fresh: readonly HostedDrive[]): void {
    const { clock, events } = this.#tools;
    const added = fresh.map((drive) => {
      const name = nextName(tx, 'volume');
      const added = { name, displayName: unusedName(tx, drive), uuid: drive.uuid, placed: drive };
      repository.insertDrive(tx, { ...added, createdAt: clock.now() });
      return added;
    });
    if (added.length > 0) events.record(tx, { title: `${wordsFor(added)} added.`, kind: 'drive', subject: 'drives' });
  }

  /** A drive that is there again is as the administrator left it. */
  async #applyToEngine({ name, uuid, isOffline }: DriveRecord): Promise<void> {
    const { engine, log } = this.#tools;
    try {
      if (isOffline) await partOf(engine, 'hardware').takeDriveOffline(uuid);
      else await partOf(engine, 'hardware').bringDriveOnline(uuid);
    } catch (error) {
      log.warn({ error, drive: name, isOffline }, 'the state of a drive could not be applied to the engine');
    }
  }
}

/** `ssd-1`: what it is, and the first number that no other drive has. Its identifier has the form of a volume's. */
function unusedName(tx: Tx, { medium }: HostedDrive): string {
  let number = 1;
  while (repository.isDisplayNameTaken(tx, `${medium}-${number}`)) number += 1;
  return `${medium}-${number}`;
}

const NAMED_MAX = 10;

function wordsFor(drives: readonly { readonly name: string; readonly displayName: string }[]): string {
  if (drives.length > NAMED_MAX) return `${drives.length} drives were`;
  return `${drives.length === 1 ? 'Drive' : 'Drives'} ${listed(drives.map(called))} ${drives.length === 1 ? 'was' : 'were'}`;
}

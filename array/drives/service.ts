import {
  fail,
  GranaryError,
  Locks,
  type Db,
  type HostedDrive,
  type NewEvent,
  type Page,
  type Tx,
} from '@granary/kernel';
import type { IoPoint, PerformanceService } from '../performance/service.ts';
import type { ArrayTools } from '../tools.ts';
import { called } from '../wording.ts';
import { conflict, refuseUnlessFree, type Drive } from './drive.ts';
import { DrivePlacements } from './placements.ts';
import * as repository from './repository.ts';
import type { DriveRecord } from './record.ts';

interface DrivePage {
  readonly drives: Drive[];
  readonly count: number;
}

const MEMBERSHIP = 'membership';

/** The drives the cloud gave the array: what they are called, where they are, and how they do. */
export class ArrayDriveService {
  readonly #tools: ArrayTools;
  readonly #performance: PerformanceService;
  readonly #placements: DrivePlacements;
  readonly #turns = new Locks();

  constructor(tools: ArrayTools, performance: PerformanceService) {
    this.#tools = tools;
    this.#performance = performance;
    this.#placements = new DrivePlacements(tools, (uuid) => performance.remove('drive', uuid));
  }

  /**
   * Which drive belongs to which RAID group is recorded twice, here and in the engine: code that changes or compares both
   * runs in a turn of this lock.
   */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run(MEMBERSHIP, work);
  }

  /** So that the next request sees the change. A failure to read does not undo the change. */
  async refreshReadings(): Promise<void> {
    const { readings, log } = this.#tools;
    await readings.refresh().catch((error: unknown) => log.warn({ error }, 'the engine could not be read'));
  }

  /** Knows the drives the cloud placed from now on, and those it took away that are still in a RAID group. */
  follow(placed: readonly HostedDrive[]): Promise<void> {
    return this.inTurn(async () => {
      await this.#placements.follow(placed);
      await this.refreshReadings();
    });
  }

  /** After a start: drives that are out of service are taken offline in the engine, and drives that were being returned stay. */
  reconcile(): Promise<void> {
    return this.#placements.reconcile();
  }

  /** Drives the cloud took away that were in a RAID group until now. */
  removeAbsent(tx: Tx): void {
    this.#placements.removeAbsent(tx);
  }

  list(page: Page): DrivePage {
    return this.#tools.store.read((db) => ({
      drives: repository.listDrives(db, page).map((drive) => this.describe(drive)),
      count: repository.countDrives(db),
    }));
  }

  listFree(page: Page): DrivePage {
    return this.#tools.store.read((db) => ({
      drives: repository.listFreeDrives(db, page).map((drive) => this.describe(drive)),
      count: repository.countFreeDrives(db),
    }));
  }

  /** Members first. */
  listOfGroup(group: string, page: Page): DrivePage {
    return this.#tools.store.read((db) => ({
      drives: repository.drivesOfGroup(db, group, page).map((drive) => this.describe(drive)),
      count: repository.countDrivesOfGroup(db, group),
    }));
  }

  get(name: string): Drive {
    return this.#tools.store.read((db) => this.named(db, name));
  }

  named(db: Db, name: string): Drive {
    const drive = repository.findDrive(db, name);
    if (!drive) throw fail('drive_not_found', { id: name });
    return this.describe(drive);
  }

  ofGroup(db: Db, group: string): Drive[] {
    return repository.drivesOfGroup(db, group).map((drive) => this.describe(drive));
  }

  describe(drive: DriveRecord): Drive {
    const { jobs, readings } = this.#tools;
    const placed = this.#placements.find(drive.uuid);
    return {
      record: drive,
      placed: placed ?? drive.placed,
      isPresent: placed !== undefined,
      state: readings.drive(drive.uuid)?.state,
      shredded: drive.shredJob === null ? undefined : jobs.get(drive.shredJob)?.progress,
    };
  }

  async rename(name: string, newName: string, actor: string): Promise<string> {
    const { store, clock } = this.#tools;
    await store.write((tx) => {
      const { record: drive } = this.named(tx, name);
      if (drive.displayName === newName) return;
      if (repository.isDisplayNameTaken(tx, newName)) throw fail('name_taken', { name: newName });
      repository.updateDrive(tx, name, { displayName: newName }, clock.now());
      this.record(tx, drive, { title: `Drive ${called(drive)} was renamed to ${newName}.`, actor });
    });
    return name;
  }

  /** Returns a free drive. The cloud sends the configuration without it before it answers: no lock is held here. */
  async remove(name: string, actor: string): Promise<string> {
    const { store, clock, returnDrive } = this.#tools;
    const record = await store.write((tx) => {
      const drive = this.named(tx, name);
      refuseUnlessFree(drive);
      repository.updateDrive(tx, name, { isLeaving: true }, clock.now());
      return drive.record;
    });
    try {
      await returnDrive(record.uuid);
    } catch (error) {
      await store.write((tx) => repository.updateDrive(tx, name, { isLeaving: false }, clock.now()));
      if (error instanceof GranaryError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw conflict(record, `was not taken back. ${reason.replace(/\.$/, '')}`);
    }
    await store.write((tx) => {
      repository.deleteDrive(tx, name);
      this.record(tx, record, {
        title: `Drive ${called(record)} was given back to the cloud.`,
        actor,
        severity: 'notice',
      });
    });
    this.#performance.remove('drive', record.uuid);
    return name;
  }

  points(name: string, intervalSeconds: number): IoPoint[] {
    const { uuid, createdAt } = this.get(name).record;
    return this.#performance.points({ kind: 'drive', id: uuid, createdAt }, intervalSeconds);
  }

  record(tx: Tx, { name }: DriveRecord, event: Omit<NewEvent, 'subject'>): void {
    this.#tools.events.record(tx, { ...event, subject: `drive:${name}` });
  }
}

import { fail, type Clock, type EventLog, type HostedDrive, type Store } from '@granary/kernel';
import { nextName } from '../sequences/repository.ts';
import { countDrives, deleteDrive, findDrive, insertDrive, listDrives, type DriveRow } from './repository.ts';

/** A drive of the array: what it calls it, and what the cloud placed there. */
export interface Drive {
  readonly name: string;
  readonly displayName: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly placed: HostedDrive;
}

interface DrivesOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: EventLog;
}

export class Drives {
  readonly #options: DrivesOptions;
  #placed: ReadonlyMap<string, HostedDrive> = new Map();

  constructor(options: DrivesOptions) {
    this.#options = options;
  }

  /** Knows exactly the drives the cloud placed from now on: names the new ones, forgets those it took back. */
  async follow(placed: readonly HostedDrive[]): Promise<void> {
    const { store, clock, events } = this.#options;
    const after = new Map(placed.map((drive) => [drive.uuid, drive]));
    // Both until the rows are written: whoever lists meanwhile finds every drive there is a row of.
    this.#placed = new Map([...this.#placed, ...after]);
    await store.write((tx) => {
      const rows = listDrives(tx);
      const known = new Set(rows.map(({ uuid }) => uuid));
      const gone = rows.filter(({ uuid }) => !after.has(uuid));
      const fresh = placed.filter(({ uuid }) => !known.has(uuid)).toSorted((a, b) => a.number - b.number);
      for (const { name } of gone) deleteDrive(tx, name);
      for (const { uuid } of fresh) insertDrive(tx, { name: nextName(tx, 'volume'), uuid, now: clock.now() });
      if (gone.length > 0) events.record(tx, { title: `${gone.length} drives were taken away.`, subject: 'drives' });
      if (fresh.length > 0) events.record(tx, { title: `${fresh.length} drives were added.`, subject: 'drives' });
    });
    this.#placed = after;
  }

  list(start: number, limit: number): { drives: Drive[]; count: number } {
    return this.#options.store.read((db) => ({
      drives: listDrives(db, start, limit).map((row) => this.#toDrive(row)),
      count: countDrives(db),
    }));
  }

  get(name: string): Drive {
    const row = this.#options.store.read((db) => findDrive(db, name));
    if (!row) throw fail('drive_not_found', { id: name });
    return this.#toDrive(row);
  }

  #toDrive(row: DriveRow): Drive {
    return {
      name: row.name,
      displayName: row.display_name,
      createdAt: row.created_at,
      modifiedAt: row.modified_at,
      placed: this.#placed.get(row.uuid) as HostedDrive,
    };
  }
}

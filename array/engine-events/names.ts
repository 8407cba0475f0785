import type { Db } from '@granary/kernel';
import { findDriveByUuid } from '../drives/repository.ts';
import { findRaidGroup } from '../raid-groups/repository.ts';
import { called } from '../wording.ts';
import { displayNameOf } from './repository.ts';

/** What users call the things an engine tells of, and what their events are about. */
export class EventNames {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  drive(uuid: string): string {
    const record = findDriveByUuid(this.#db, uuid);
    return record ? called(record) : uuid;
  }

  driveSubject(uuid: string): string {
    return `drive:${findDriveByUuid(this.#db, uuid)?.name ?? uuid}`;
  }

  group(name: string): string {
    const raidGroup = findRaidGroup(this.#db, name);
    return raidGroup ? called(raidGroup) : name;
  }

  pool(name: string): string {
    return this.#called('pools', name);
  }

  server(name: string): string {
    return this.#called('servers', name);
  }

  volume(name: string): string {
    return this.#called('volumes', name);
  }

  #called(table: 'pools' | 'servers' | 'volumes', name: string): string {
    const displayName = displayNameOf(this.#db, table, name);
    return displayName === undefined ? name : called({ name, displayName });
  }
}

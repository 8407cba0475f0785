import type { Db } from '@granary/kernel';
import { findDriveByUuid } from '../drives/repository.ts';
import { findPool } from '../pools/repository.ts';
import { findRaidGroup } from '../raid-groups/repository.ts';
import { findServer } from '../servers/repository.ts';
import { findAnyVolume } from '../volumes/repository.ts';
import { called } from '../wording.ts';

/** The users' names of resources in engine events, and the subjects of those events. */
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
    return nameOf(findPool(this.#db, name), name);
  }

  server(name: string): string {
    return nameOf(findServer(this.#db, name), name);
  }

  volume(name: string): string {
    return nameOf(findAnyVolume(this.#db, name), name);
  }
}

function nameOf(found: { readonly name: string; readonly displayName: string } | undefined, name: string): string {
  return found ? called(found) : name;
}

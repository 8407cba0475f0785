import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  findHome,
  readSetting,
  RESTORED_AT,
  describeHome,
  type DamagedDatabaseError,
  type EventLog,
  type Log,
  type Store,
} from '@granary/kernel';
import type { DriveFiles } from '../inventory/drive-files.ts';
import { keepCloudUuid } from '../inventory/repository.ts';
import { openCloudStore } from './open-store.ts';
import { reconcile } from './reconcile.ts';
import { HostingRecords } from './records.ts';
import { listRevisions } from './repository.ts';

/** The cloud's database as a start finds it, brought together with the folders of its arrays. */
export interface Recovered {
  readonly store: Store;
  readonly uuid: string;
  readonly records: HostingRecords;
  readonly damage: DamagedDatabaseError | undefined;
  /** The database is a copy that was restored here. */
  readonly isRestored: boolean;
  /** Why this cloud starts no arrays: its folder is a copy of another one's. */
  readonly copyOf: string | undefined;
  readonly notices: readonly string[];
  /** Why arrays are not started, by uuid: all of them in a copied folder. */
  heldBack(problems: ReadonlyMap<string, string>): ReadonlyMap<string, string>;
}

interface Places {
  readonly folder: string;
  readonly events: EventLog;
  readonly files: DriveFiles;
  readonly log: Log;
}

export async function recoverStore({ folder, events, files, log }: Places): Promise<Recovered> {
  const arraysFolder = join(folder, 'arrays');
  const { store, records: found, problems, damage } = openCloudStore(folder);
  try {
    const done = await reconcile({ store, events, files, arraysFolder }, found);
    const uuid = await store.write((tx) => keepCloudUuid(tx, found[0]?.cloud ?? randomUUID()));
    const copyOf = damage ? undefined : await copyWords(store);
    const notices = [
      ...(damage
        ? [`${damage.message} Until then arrays serve as their folders say, and nothing can be changed.`]
        : []),
      ...(copyOf === undefined ? [] : [`Arrays are not started: ${copyOf}. ${WAY_OUT}`]),
      ...problems,
      ...(damage ? [] : done),
    ];
    for (const notice of notices) log.warn({ notice }, 'the cloud recovers');
    return {
      store,
      uuid,
      records: new HostingRecords({ folder: arraysFolder, store, cloud: uuid, log }),
      damage,
      isRestored: store.read((db) => readSetting(db, RESTORED_AT)) !== undefined,
      copyOf,
      notices,
      heldBack: (known) => (copyOf === undefined ? known : heldBack(store, `Not started: ${copyOf}. ${WAY_OUT}`)),
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

const WAY_OUT = 'If the original is gone for good, put this one in charge with `granary clouds adopt`.';

async function copyWords(store: Store): Promise<string | undefined> {
  const { copyOf } = await findHome(store);
  return copyOf && `this data folder is a copy of ${describeHome(copyOf)}, which may be alive`;
}

function heldBack(store: Store, reason: string): Map<string, string> {
  return new Map(store.read(listRevisions).map(({ uuid }) => [uuid, reason]));
}

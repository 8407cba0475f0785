import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSetting, RESTORED_AT, type EventLog, type Store, type Tx } from '@granary/kernel';
import { internalNameOf } from '../hosted-arrays/repository.ts';
import type { DriveFiles } from '../inventory/drive-files.ts';
import { CLOUD_UUID } from '../inventory/repository.ts';
import type { HostingRecord } from './records.ts';
import { dropRows, listRevisions, putRows, rowsOf } from './repository.ts';

interface Places {
  readonly store: Store;
  readonly events: EventLog;
  readonly files: DriveFiles;
  /** Holds one folder an array. */
  readonly arraysFolder: string;
}

/**
 * Brings a database that may be older than the folders of its arrays up to date. An array whose record is newer, or that
 * the database does not know, is taken as its record says. An array without a folder and without a file of any drive was
 * removed after the copy was made; only a database that was restored can say so. Returns what was done, in words.
 */
export async function reconcile(places: Places, records: readonly HostingRecord[]): Promise<string[]> {
  const { store, events, arraysFolder } = places;
  const uuid = store.read((db) => readSetting(db, CLOUD_UUID));
  const foreign = records.find(({ cloud }) => uuid !== undefined && cloud !== uuid);
  if (foreign)
    throw new Error(
      `${join(arraysFolder, internalNameOf(foreign.array.number))} belongs to cloud ${foreign.cloud}, not to this one ` +
        `(${uuid}). Two clouds cannot share the folders of arrays; start the one they belong to.`,
    );
  return store.write((tx) => {
    const done = [...dropRemoved(tx, places), ...records.flatMap((record) => adopt(tx, record))];
    for (const title of done) events.record(tx, { severity: 'warning', title, subject: 'cloud' });
    return done;
  });
}

function adopt(tx: Tx, record: HostingRecord): string[] {
  const { array } = record;
  const known = rowsOf(tx, array.number);
  if (known && known.array.revision >= array.revision) return [];
  const name = internalNameOf(array.number);
  if (known && known.array.uuid !== array.uuid) dropRows(tx, array.number);
  putRows(tx, record);
  return known
    ? [`Array ${name} has changed since this database was written; its own record was taken.`]
    : [`Array ${name} was not on record; it was found by the record in its folder.`];
}

function dropRemoved(tx: Tx, { arraysFolder, files }: Places): string[] {
  if (readSetting(tx, RESTORED_AT) === undefined) return [];
  return listRevisions(tx).flatMap(({ number }) => {
    const name = internalNameOf(number);
    const drives = (rowsOf(tx, number)?.drives ?? []) as unknown as { uuid: string; node: string }[];
    const isThere = existsSync(join(arraysFolder, name)) || drives.some((drive) => existsSync(files.pathOf(drive)));
    if (isThere) return [];
    dropRows(tx, number);
    return [`Array ${name} was removed after this database was written; it is no longer on record.`];
  });
}

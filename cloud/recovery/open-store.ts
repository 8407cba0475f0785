import { join } from 'node:path';
import { DamagedDatabaseError, Store } from '@granary/kernel';
import { migrations } from '../migrations.ts';
import { readHostingRecords, type HostingRecord } from './records.ts';

export interface OpenedStore {
  readonly store: Store;
  readonly records: readonly HostingRecord[];
  readonly problems: readonly string[];
  /** Set when the database is damaged: the store is in memory then, and nothing may be changed. */
  readonly damage: DamagedDatabaseError | undefined;
}

/**
 * The database of the cloud. A damaged one does not keep arrays from serving: what the cloud knows of them is read from
 * their folders into memory.
 */
export function openCloudStore(folder: string): OpenedStore {
  const { records, problems } = readHostingRecords(join(folder, 'arrays'));
  try {
    const store = new Store(join(folder, 'cloud.db'), migrations);
    return { store, records, problems, damage: undefined };
  } catch (error) {
    if (!(error instanceof DamagedDatabaseError) || records.length === 0) throw error;
    return { store: new Store(':memory:', migrations), records, problems, damage: error };
  }
}

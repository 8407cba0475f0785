import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** What a stopped array has on record of the things its engine keeps. */
export interface ArrayRecords {
  readonly groups: readonly { readonly name: string; readonly pool: string | null; readonly state: string }[];
  readonly drives: readonly { readonly uuid: string; readonly raid_group: string | null; readonly role: string }[];
  readonly pools: readonly { readonly name: string; readonly capacity_bytes: number; readonly state: string }[];
  readonly volumes: readonly VolumeRecord[];
  /** Volumes that hold a filesystem. */
  readonly shares: readonly { readonly name: string }[];
  readonly snapshots: readonly SnapshotRecord[];
  readonly unfinishedJobs: readonly { readonly id: number; readonly kind: string; readonly subject: string }[];
}

interface VolumeRecord {
  readonly name: string;
  readonly pool: string;
  readonly size_bytes: number;
  readonly state: string;
}

interface SnapshotRecord {
  readonly name: string;
  readonly volume: string;
  readonly size_bytes: number;
  readonly state: string;
}

/** Read from a copy, so that nothing is changed, not even by opening it. */
export function readRecords(folder: string): ArrayRecords {
  const copies = mkdtempSync(join(tmpdir(), 'granary-check-'));
  try {
    const copy = join(copies, 'array.db');
    for (const ending of ['', '-wal']) {
      const file = join(folder, `array.db${ending}`);
      if (existsSync(file)) copyFileSync(file, copy + ending);
    }
    return recordsIn(new DatabaseSync(copy));
  } finally {
    rmSync(copies, { recursive: true });
  }
}

function recordsIn(database: DatabaseSync): ArrayRecords {
  const all = <T>(sql: string) => database.prepare(sql).all() as T[];
  try {
    // The array may have been stopped by a version without them.
    const hasShares = all(`SELECT 1 FROM pragma_table_info('volumes') WHERE name = 'kind'`).length > 0;
    return {
      groups: all('SELECT name, pool, state FROM raid_groups ORDER BY number'),
      drives: all('SELECT uuid, raid_group, role FROM drives'),
      pools: all('SELECT name, capacity_bytes, state FROM pools ORDER BY name'),
      volumes: all('SELECT name, pool, size_bytes, state FROM volumes ORDER BY name'),
      shares: hasShares
        ? all(`SELECT name FROM volumes WHERE kind = 'file' AND state NOT IN ('creating', 'deleting')`)
        : [],
      snapshots: all('SELECT name, volume, size_bytes, state FROM snapshots ORDER BY name'),
      unfinishedJobs: all(`SELECT id, kind, subject FROM jobs WHERE state IN ('queued', 'running')`),
    };
  } finally {
    database.close();
  }
}

import type { Database } from '@granary/kernel/sqlite';
import type { PoolCommits } from '../metadata/pool-commits.ts';
import type { VolumeOptions } from '../volume/format.ts';

/** The version of a pool in which reduced layers lie over plain ones; earlier programs would read zeros there. */
export const MIXED_FORMATS = 2;

export type { VolumeOptions } from '../volume/format.ts';

/** The record of a volume, without its map. */
export interface VolumeRecord {
  readonly id: string;
  readonly sizeBytes: number;
  readonly layer: number;
  readonly options: VolumeOptions;
  readonly keyCheck: Buffer | undefined;
  /** The state of a move between pools; absent when there is none. */
  readonly state?: VolumeState | undefined;
}

export type VolumeState = 'incoming' | 'moved';

export interface SnapshotRecord {
  readonly id: string;
  readonly volume: string;
  readonly layer: number;
  readonly sizeBytes: number;
  readonly takenAt: Date;
}

export interface GroupRecord {
  readonly id: string;
  readonly firstExtent: number;
  readonly extentCount: number;
  readonly leaving: boolean;
}

/** The SQL of volumes, snapshots and groups: read once at open, written with the next commit. */
export class Catalogue {
  readonly #database: Database;
  readonly #commits: Pick<PoolCommits, 'enqueue'>;

  /** Without commits it is read-only. */
  constructor(database: Database, commits: Pick<PoolCommits, 'enqueue'> = noCommits) {
    this.#database = database;
    this.#commits = commits;
  }

  /** Programs that know only earlier versions refuse the pool from now on. */
  requireVersion(version: number): void {
    this.#commits.enqueue((tx) => {
      tx.run('UPDATE pool SET version = ? WHERE version < ?', version, version);
    });
  }

  volumes(): VolumeRecord[] {
    const rows = this.#database.all<VolumeRow>('SELECT id, size_bytes, layer, options, key_check, state FROM volumes');
    return rows.map((row) => ({
      id: row.id,
      sizeBytes: row.size_bytes,
      layer: row.layer,
      options: JSON.parse(row.options) as VolumeOptions,
      keyCheck: row.key_check ? Buffer.from(row.key_check) : undefined,
      state: row.state ?? undefined,
    }));
  }

  snapshots(): SnapshotRecord[] {
    const rows = this.#database.all<SnapshotRow>(
      'SELECT id, volume, layer, size_bytes, taken_at FROM snapshots ORDER BY taken_at, layer',
    );
    return rows.map((row) => ({
      id: row.id,
      volume: row.volume,
      layer: row.layer,
      sizeBytes: row.size_bytes,
      takenAt: new Date(row.taken_at),
    }));
  }

  addVolume(record: VolumeRecord): void {
    const { id, sizeBytes, layer, keyCheck, state } = record;
    const options = JSON.stringify(record.options);
    this.#commits.enqueue((tx) => {
      tx.run(
        'INSERT OR REPLACE INTO volumes (id, size_bytes, layer, options, key_check, state) VALUES (?, ?, ?, ?, ?, ?)',
        ...[id, sizeBytes, layer, options, keyCheck ?? null, state ?? null],
      );
    });
  }

  resizeVolume(id: string, sizeBytes: number): void {
    this.#commits.enqueue((tx) => {
      tx.run('UPDATE volumes SET size_bytes = ? WHERE id = ?', sizeBytes, id);
    });
  }

  setOptions(id: string, options: VolumeOptions): void {
    this.#commits.enqueue((tx) => {
      tx.run('UPDATE volumes SET options = ? WHERE id = ?', JSON.stringify(options), id);
    });
  }

  setVolumeState(id: string, state: VolumeState | undefined): void {
    this.#commits.enqueue((tx) => {
      tx.run('UPDATE volumes SET state = ? WHERE id = ?', state ?? null, id);
    });
  }

  setVolumeLayer(id: string, layer: number): void {
    this.#commits.enqueue((tx) => {
      tx.run('UPDATE volumes SET layer = ? WHERE id = ?', layer, id);
    });
  }

  removeVolume(id: string): void {
    this.#commits.enqueue((tx) => {
      tx.run('DELETE FROM volumes WHERE id = ?', id);
    });
  }

  addSnapshot(record: SnapshotRecord): void {
    const { id, volume, layer, sizeBytes, takenAt } = record;
    this.#commits.enqueue((tx) => {
      tx.run(
        'INSERT OR REPLACE INTO snapshots (id, volume, layer, size_bytes, taken_at) VALUES (?, ?, ?, ?, ?)',
        ...[id, volume, layer, sizeBytes, takenAt.getTime()],
      );
    });
  }

  setSnapshotLayer(id: string, layer: number): void {
    this.#commits.enqueue((tx) => {
      tx.run('UPDATE snapshots SET layer = ? WHERE id = ?', layer, id);
    });
  }

  removeSnapshot(id: string): void {
    this.#commits.enqueue((tx) => {
      tx.run('DELETE FROM snapshots WHERE id = ?', id);
    });
  }

  groups(): GroupRecord[] {
    const rows = this.#database.all<GroupRow>('SELECT id, first_extent, extent_count, leaving FROM groups');
    return rows.map((row) => ({
      id: row.id,
      firstExtent: row.first_extent,
      extentCount: row.extent_count,
      leaving: row.leaving === 1,
    }));
  }

  putGroup(group: GroupRecord): void {
    this.#commits.enqueue((tx) => {
      tx.run(
        'INSERT OR REPLACE INTO groups (id, first_extent, extent_count, leaving) VALUES (?, ?, ?, ?)',
        ...[group.id, group.firstExtent, group.extentCount, group.leaving ? 1 : 0],
      );
    });
  }

  removeGroup(id: string): void {
    this.#commits.enqueue((tx) => {
      tx.run('DELETE FROM groups WHERE id = ?', id);
    });
  }
}

const noCommits = {
  enqueue(): never {
    throw new Error('this catalogue is read-only');
  },
};

interface VolumeRow {
  readonly id: string;
  readonly size_bytes: number;
  readonly layer: number;
  readonly options: string;
  readonly key_check: Uint8Array | null;
  readonly state: VolumeState | null;
}

interface SnapshotRow {
  readonly id: string;
  readonly volume: string;
  readonly layer: number;
  readonly size_bytes: number;
  readonly taken_at: number;
}

interface GroupRow {
  readonly id: string;
  readonly first_extent: number;
  readonly extent_count: number;
  readonly leaving: number;
}

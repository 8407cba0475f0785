import { sqlPage, type Db, type Page } from '@granary/kernel';
import { findShares } from '../shares/repository.ts';
import { volumeTable } from './repository.ts';
import type { Volume, VolumeFacts } from './volume.ts';

type Flag = 'poolCache' | 'isReadOnly' | 'hasSnapshots' | 'isMirrored' | 'isShadowCopy';

/** What the statement below selects beyond a volume, as SQLite gives it. */
type FactsBeyond = Omit<VolumeFacts, keyof Volume | 'share' | Flag> & Readonly<Record<Flag, number | null>>;

export interface VolumeFilter {
  readonly pool?: string | undefined;
  readonly server?: string | undefined;
  readonly kind?: Volume['kind'] | undefined;
  /** Text that its display name holds. */
  readonly displayName?: string | undefined;
  /** Attached to no server. */
  readonly isFree?: boolean | undefined;
  /** Written to by a mirror from another array. */
  readonly isDestination?: boolean | undefined;
}

function conditionOf({ pool, server, kind, displayName, isFree, isDestination }: VolumeFilter): string {
  const terms = [`v.state <> 'binned'`];
  if (pool !== undefined) terms.push('v.pool = :pool');
  if (server !== undefined) terms.push('v.name IN (SELECT volume FROM attachments WHERE server = :server)');
  if (kind !== undefined) terms.push('v.kind = :kind');
  if (displayName !== undefined) terms.push('instr(v.display_name, :displayName) > 0');
  if (isFree === true) terms.push('NOT EXISTS (SELECT 1 FROM attachments WHERE volume = v.name)');
  if (isDestination === true) terms.push('v.mirror_job IS NOT NULL');
  return terms.join(' AND ');
}

function paramsOf({ pool, server, kind, displayName }: VolumeFilter): Record<string, string> {
  return {
    ...(pool !== undefined && { pool }),
    ...(server !== undefined && { server }),
    ...(kind !== undefined && { kind }),
    ...(displayName !== undefined && { displayName }),
  };
}

/** All are counted quickly, and those in the recycle bin are few. */
const COUNT_SHOWN = `SELECT (SELECT count(*) FROM volumes)
  - (SELECT count(*) FROM volumes WHERE state = 'binned') AS count`;

export function countVolumes(db: Db, filter: VolumeFilter): number {
  const isUnfiltered = Object.values(filter).every((value) => value === undefined);
  if (isUnfiltered) return db.get<{ count: number }>(COUNT_SHOWN)?.count ?? 0;
  const sql = `SELECT count(*) AS count FROM volumes AS v WHERE ${conditionOf(filter)}`;
  return db.get<{ count: number }>(sql, paramsOf(filter))?.count ?? 0;
}

const FACTS = `SELECT ${volumeTable.fields('v')}, p.display_name AS poolDisplayName, p.version AS poolVersion,
    p.cache AS poolCache, a.server AS firstServer, a.access_type AS accessType, a.lun, a.read_only AS isReadOnly,
    CASE WHEN a.server IS NOT NULL
      THEN (SELECT group_concat(server, ',') FROM attachments WHERE volume = v.name) END AS serverNames,
    EXISTS (SELECT 1 FROM snapshots WHERE volume = v.name) AS hasSnapshots,
    (v.mirror_job IS NOT NULL OR EXISTS (SELECT 1 FROM source_mirrors
       WHERE volume = v.name AND state IN ('creating', 'active', 'paused'))) AS isMirrored,
    EXISTS (SELECT 1 FROM snapshot_set_members WHERE clone = v.name) AS isShadowCopy`;
const FACTS_JOINS = `LEFT JOIN pools AS p ON p.name = v.pool
  LEFT JOIN attachments AS a
    ON a.volume = v.name AND a.server = (SELECT min(server) FROM attachments WHERE volume = v.name)`;

/** The page is found in an index alone; only its rows are read and joined. */
export function listVolumes(db: Db, filter: VolumeFilter, page: Page): VolumeFacts[] {
  const sql = `WITH page AS MATERIALIZED
      (SELECT v.name FROM volumes AS v WHERE ${conditionOf(filter)} ORDER BY v.name LIMIT :limit OFFSET :start)
    ${FACTS} FROM page CROSS JOIN volumes AS v ON v.name = page.name ${FACTS_JOINS} ORDER BY page.name`;
  return factsOf(db, volumeTable.all<FactsBeyond>(db, sql, { ...paramsOf(filter), ...sqlPage(page) }));
}

export function findVolumeFacts(db: Db, name: string): VolumeFacts | undefined {
  const sql = `${FACTS} FROM volumes AS v ${FACTS_JOINS} WHERE v.name = :name AND v.state <> 'binned'`;
  const row = volumeTable.get<FactsBeyond>(db, sql, { name });
  return row && factsOf(db, [row])[0];
}

/**
 * In place, because lists of thousands pass here. Block volumes, of which there may be as many, do not pay for what shares
 * have.
 */
function factsOf(db: Db, rows: (Volume & FactsBeyond)[]): VolumeFacts[] {
  const files = rows.filter(({ kind }) => kind === 'file').map(({ name }) => name);
  const shares = files.length === 0 ? undefined : findShares(db, files);
  return rows.map((row) =>
    Object.assign(row, {
      poolCache: row.poolCache === null ? null : row.poolCache === 1,
      isReadOnly: row.isReadOnly === null ? null : row.isReadOnly === 1,
      hasSnapshots: row.hasSnapshots === 1,
      isMirrored: row.isMirrored === 1,
      isShadowCopy: row.isShadowCopy === 1,
      share: shares?.get(row.name),
    }),
  );
}

/** Rises with every row that this process changes; no other process writes to the file. */
export function changesEver(db: Db): number {
  return db.get<{ changes: number }>('SELECT total_changes() AS changes')?.changes ?? 0;
}

export function listBinned(db: Db, pool: string, page: Page): Volume[] {
  const sql = `SELECT ${volumeTable.fields()} FROM volumes WHERE pool = :pool AND state = 'binned' ORDER BY binned_at, name
    LIMIT :limit OFFSET :start`;
  return volumeTable.all(db, sql, { pool, ...sqlPage(page) });
}

export function countBinned(db: Db, pool: string): number {
  const sql = `SELECT count(*) AS count FROM volumes WHERE pool = :pool AND state = 'binned'`;
  return db.get<{ count: number }>(sql, { pool })?.count ?? 0;
}

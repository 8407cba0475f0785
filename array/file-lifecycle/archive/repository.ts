import { plain, Table, type Db, type Tx } from '@granary/kernel';
import type { ArchivedObject } from './archived-object.ts';

const objects = new Table<ArchivedObject>('archived_objects', {
  key: plain('key'),
  volume: plain('volume'),
  destination: plain('destination'),
  state: plain('state'),
  sizeBytes: plain('size_bytes'),
  sha256: plain('sha256'),
  upload: plain('upload'),
  createdAt: plain('created_at'),
  seenAt: plain('seen_at'),
  unneededAt: plain('unneeded_at'),
});

type NewObject = Pick<ArchivedObject, 'key' | 'volume' | 'destination' | 'sizeBytes' | 'createdAt'>;

export function insertObject(tx: Tx, object: NewObject): void {
  objects.insert(tx, { ...object, state: 'sending', sha256: null, upload: null, seenAt: 0, unneededAt: null });
}

export function recordUpload(tx: Tx, key: string, upload: string | null): void {
  objects.update(tx, { key }, { upload });
}

/** Its stub is there. */
export function markStub(tx: Tx, key: string, sha256: string): void {
  objects.update(tx, { key }, { state: 'stub', sha256, upload: null });
}

/** No stub of it was made. */
export function markOrphan(tx: Tx, key: string, now: number): void {
  objects.update(tx, { key }, { state: 'orphan', unneededAt: now });
}

export function removeObject(tx: Tx, key: string): void {
  tx.run('DELETE FROM archived_objects WHERE key = :key', { key });
}

export function findObject(db: Db, key: string): ArchivedObject | undefined {
  return objects.get(db, `SELECT ${objects.fields()} FROM archived_objects WHERE key = :key`, { key });
}

/** A scan saw a stub of each. */
export function markSeen(tx: Tx, keys: readonly string[], scanAt: number): void {
  tx.run(
    `UPDATE archived_objects SET seen_at = :scanAt, unneeded_at = NULL
     WHERE key IN (SELECT value FROM json_each(:keys)) AND state <> 'orphan'`,
    { keys: JSON.stringify(keys), scanAt },
  );
}

/**
 * After a scan of one snapshot: objects it did not see were unused by the share at that time. A share that went back to
 * an earlier snapshot since may use them again. `limit` at a time; false when that was the last of them.
 */
export function markUnneeded(
  tx: Tx,
  { volume, scanAt, momentAt }: { readonly volume: string; readonly scanAt: number; readonly momentAt: number },
  limit: number,
): boolean {
  const { changes } = tx.run(
    `UPDATE archived_objects SET unneeded_at = :momentAt WHERE key IN (
       SELECT key FROM archived_objects
       WHERE volume = :volume AND seen_at < :scanAt AND created_at < :momentAt AND unneeded_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM volumes AS v WHERE v.name = :volume AND v.restored_at >= :momentAt) LIMIT :limit)`,
    { volume, scanAt, momentAt, limit },
  );
  return changes === limit;
}

/** The share went back to a snapshot, which may have their stubs: the next scan sees which it has. */
export function neededAgain(tx: Tx, volume: string): void {
  tx.run(`UPDATE archived_objects SET unneeded_at = NULL WHERE volume = :volume AND state <> 'orphan'`, { volume });
}

export function hasObjects(db: Db): boolean {
  return db.get('SELECT 1 FROM archived_objects LIMIT 1') !== undefined;
}

/** The last of the next `count` keys, if there are that many. */
export function findKeyBehind(db: Db, after: string, count: number): string | undefined {
  const sql = 'SELECT key FROM archived_objects WHERE key > :after ORDER BY key LIMIT 1 OFFSET :passed';
  return db.get<{ key: string }>(sql, { after, passed: count - 1 })?.key;
}

/**
 * Objects with keys behind one and up to another that are unused. Those whose stub the share has lost are
 * needed as long as there is a snapshot from before that moment, or anything that was ever cloned or mirrored from the
 * share.
 */
export function findRemovable(db: Db, after: string, until: string | undefined): ArchivedObject[] {
  return objects.all(
    db,
    `WITH RECURSIVE copies (source, copy) AS (
       SELECT source, clone FROM share_clones
       UNION SELECT copies.source, c.clone FROM copies JOIN share_clones AS c ON c.source = copies.copy)
     SELECT ${objects.fields('o')} FROM archived_objects AS o
     WHERE o.key > :after AND (:until IS NULL OR o.key <= :until) AND (o.state = 'orphan' OR (
       (o.unneeded_at IS NOT NULL OR NOT EXISTS (SELECT 1 FROM volumes AS v WHERE v.name = o.volume))
       AND NOT EXISTS (SELECT 1 FROM snapshots AS s WHERE s.volume = o.volume AND s.created_at <= coalesce(o.unneeded_at, s.created_at))
       AND NOT EXISTS (SELECT 1 FROM copies JOIN volumes AS v ON v.name = copies.copy WHERE copies.source = o.volume)
       AND NOT EXISTS (SELECT 1 FROM source_mirrors AS m WHERE m.volume = o.volume)))
     ORDER BY o.key`,
    { after, until: until ?? null },
  );
}

/** It has the stubs of its source, and needs their objects. */
export function insertClone(tx: Tx, clone: string, source: string): void {
  tx.run('INSERT INTO share_clones VALUES (:clone, :source) ON CONFLICT DO NOTHING', { clone, source });
}

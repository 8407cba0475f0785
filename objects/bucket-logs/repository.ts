import type { Db, Tx } from '@granary/kernel';

export interface NewLine {
  readonly bucket: number;
  readonly at: number;
  readonly line: string;
}

export interface Line extends NewLine {
  readonly id: number;
}

/** Lines of a bucket up to `last`, which become the object `key` of the bucket `target`. */
export interface Batch {
  readonly bucket: number;
  readonly last: number;
  readonly target: number;
  readonly key: string;
}

export function insertLines(tx: Tx, lines: readonly NewLine[]): void {
  for (const { bucket, at, line } of lines)
    tx.run('INSERT INTO lines (bucket, at, line) VALUES (:bucket, :at, :line)', { bucket, at, line });
}

/** The oldest beyond the limit go. */
export function trimLines(tx: Tx, keep: number): void {
  tx.run('DELETE FROM lines WHERE id <= (SELECT max(id) FROM lines) - :keep', { keep });
}

export function bucketsWithLines(db: Db): number[] {
  return db
    .all<{ bucket: number }>('SELECT DISTINCT bucket FROM lines ORDER BY bucket', {})
    .map(({ bucket }) => bucket);
}

export function linesOf(db: Db, bucket: number, limit: number): Line[] {
  const sql = 'SELECT id, bucket, at, line FROM lines WHERE bucket = :bucket ORDER BY id LIMIT :limit';
  return db.all<Line>(sql, { bucket, limit });
}

export function linesUntil(db: Db, bucket: number, last: number): Line[] {
  const sql = 'SELECT id, bucket, at, line FROM lines WHERE bucket = :bucket AND id <= :last ORDER BY id';
  return db.all<Line>(sql, { bucket, last });
}

export function findBatch(db: Db, bucket: number): Batch | undefined {
  return db.get<Batch>('SELECT bucket, last, target, key FROM batches WHERE bucket = :bucket', { bucket });
}

export function insertBatch(tx: Tx, { bucket, last, target, key }: Batch): void {
  tx.run('INSERT INTO batches VALUES (:bucket, :last, :target, :key)', { bucket, last, target, key });
}

export function deleteBatch(tx: Tx, { bucket, last }: Pick<Batch, 'bucket' | 'last'>): void {
  tx.run('DELETE FROM lines WHERE bucket = :bucket AND id <= :last', { bucket, last });
  tx.run('DELETE FROM batches WHERE bucket = :bucket', { bucket });
}

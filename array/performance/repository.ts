import type { Db, Tx } from '@granary/kernel';
import type { KeptBucket } from './ladder.ts';

interface BucketRow {
  readonly step: number;
  readonly bucket: number;
  readonly sums: Uint8Array;
}

export function findBuckets(db: Db, kind: string, id: string): KeptBucket[] {
  const rows = db.all<BucketRow>(
    'SELECT step, bucket, sums FROM performance WHERE kind = :kind AND id = :id ORDER BY step, bucket',
    { kind, id },
  );
  return rows.map(({ step, bucket, sums }) => ({ step, bucket, sums: numbersIn(sums) }));
}

export function putBucket(tx: Tx, kind: string, id: string, { step, bucket, sums }: KeptBucket): void {
  tx.run(
    `INSERT INTO performance VALUES (:kind, :id, :step, :bucket, :sums)
     ON CONFLICT DO UPDATE SET sums = excluded.sums`,
    { kind, id, step, bucket, sums: new Uint8Array(sums.buffer, sums.byteOffset, sums.byteLength) },
  );
}

export function deleteBucketsBefore(tx: Tx, kind: string, id: string, step: number, bucket: number): void {
  tx.run('DELETE FROM performance WHERE kind = :kind AND id = :id AND step = :step AND bucket < :bucket', {
    kind,
    id,
    step,
    bucket,
  });
}

export function deleteBuckets(tx: Tx, kind: string, id: string): void {
  tx.run('DELETE FROM performance WHERE kind = :kind AND id = :id', { kind, id });
}

/** A copy, because a blob may begin anywhere in memory and numbers may not. */
function numbersIn(bytes: Uint8Array): Float64Array {
  return new Float64Array(Uint8Array.from(bytes).buffer);
}

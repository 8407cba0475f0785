import type { Db, Tx } from '@granary/kernel';

export interface NewComputeRow {
  readonly userId: number;
  readonly providerId: number;
  readonly displayName: string;
  readonly description: string | null;
  readonly cores: number;
  readonly ramGb: number;
  readonly instances: number;
}

export function isComputeNameTaken(
  db: Db,
  { userId, providerId, displayName }: Pick<NewComputeRow, 'userId' | 'providerId' | 'displayName'>,
): boolean {
  const row = db.get(
    'SELECT 1 FROM computes WHERE user_id = :userId AND provider_id = :providerId AND display_name = :displayName',
    { userId, providerId, displayName },
  );
  return row !== undefined;
}

export function insertCompute(tx: Tx, compute: NewComputeRow, now: number): number {
  return tx.run(
    `INSERT INTO computes (provider_id, user_id, display_name, description, cores, ram_gb, instances, created_at)
     VALUES (:providerId, :userId, :displayName, :description, :cores, :ramGb, :instances, :now)`,
    { ...compute, now },
  ).insertedId;
}

import type { Db, Tx } from '../store/index.ts';

/** A used key; without an answer while its request is in progress, or when a crash interrupted it. */
export interface UsedKey {
  /** Identifies the request. */
  readonly requestMark: string;
  readonly answer: { readonly status: number; readonly bodySealed: string } | undefined;
}

interface KeyName {
  readonly actor: string;
  readonly key: string;
}

export function deleteKeysBefore(tx: Tx, time: number): void {
  tx.run('DELETE FROM idempotency_keys WHERE created_at < :time', { time });
}

export function findKey(db: Db, { actor, key }: KeyName): UsedKey | undefined {
  const sql = 'SELECT request, status, body FROM idempotency_keys WHERE actor = :actor AND key = :key';
  const row = db.get<{ request: string; status: number | null; body: string | null }>(sql, { actor, key });
  if (!row) return undefined;
  const { request: requestMark, status, body } = row;
  return { requestMark, answer: status === null || body === null ? undefined : { status, bodySealed: body } };
}

export function insertKey(tx: Tx, { actor, key }: KeyName, requestMark: string, now: number): void {
  tx.run(
    `INSERT INTO idempotency_keys (actor, key, request, status, body, created_at)
     VALUES (:actor, :key, :requestMark, NULL, NULL, :now)`,
    { actor, key, requestMark, now },
  );
}

export function saveAnswer(tx: Tx, { actor, key }: KeyName, answer: { status: number; bodySealed: string }): void {
  tx.run('UPDATE idempotency_keys SET status = :status, body = :bodySealed WHERE actor = :actor AND key = :key', {
    actor,
    key,
    ...answer,
  });
}

export function deleteKey(tx: Tx, { actor, key }: KeyName): void {
  tx.run('DELETE FROM idempotency_keys WHERE actor = :actor AND key = :key', { actor, key });
}

import type { Db, Tx } from '../store/index.ts';

export interface JobRow {
  readonly id: number;
  readonly kind: string;
  readonly subject: string;
  readonly arguments: string;
  readonly state: 'queued' | 'running' | 'done' | 'failed';
  readonly ticket: string | null;
  readonly checkpoint: string | null;
  readonly progress: number;
  readonly note: string;
  readonly attempts: number;
  readonly surprises: number;
  readonly error: string | null;
  readonly created_at: number;
  readonly finished_at: number | null;
}

interface NewJob {
  readonly kind: string;
  readonly subject: string;
  readonly arguments: string;
  readonly now: number;
}

export function insertJob(tx: Tx, job: NewJob): number {
  return tx.run(
    `INSERT INTO jobs (kind, subject, arguments, state, run_after, created_at)
     VALUES (:kind, :subject, :arguments, 'queued', :now, :now)`,
    { ...job },
  ).insertedId;
}

export function findJob(db: Db, id: number): JobRow | undefined {
  return db.get<JobRow>('SELECT * FROM jobs WHERE id = :id', { id });
}

/** The jobs that may start now: the oldest unfinished one of each subject, if nothing holds it. */
export function findStartable(db: Db, now: number, limit: number): JobRow[] {
  return db.all<JobRow>(
    `SELECT * FROM jobs AS job
     WHERE state = 'queued' AND run_after <= :now
       AND NOT EXISTS (SELECT 1 FROM jobs AS earlier WHERE earlier.subject = job.subject
                       AND earlier.id < job.id AND earlier.state IN ('queued', 'running'))
     ORDER BY run_after, id LIMIT :limit`,
    { now, limit },
  );
}

/** The oldest of the subject that is waiting or under way. */
export function findUnfinished(db: Db, subject: string): number | undefined {
  const sql = `SELECT id FROM jobs WHERE subject = :subject AND state IN ('queued', 'running') ORDER BY id LIMIT 1`;
  return db.get<{ id: number }>(sql, { subject })?.id;
}

/** When the next job that is put off becomes due. */
export function findNextStart(db: Db, now: number): number | undefined {
  const sql = `SELECT min(run_after) AS at FROM jobs WHERE state = 'queued' AND run_after > :now`;
  return db.get<{ at: number | null }>(sql, { now })?.at ?? undefined;
}

/** Claims a job with a ticket; false when somebody else was faster. */
export function claimJob(tx: Tx, id: number, ticket: string): boolean {
  return (
    tx.run(
      `UPDATE jobs SET state = 'running', ticket = :ticket, attempts = attempts + 1
       WHERE id = :id AND state = 'queued' AND ticket IS NULL`,
      { id, ticket },
    ).changes === 1
  );
}

export function saveProgress(
  tx: Tx,
  id: number,
  ticket: string,
  saved: Pick<JobRow, 'progress' | 'note' | 'checkpoint'>,
): void {
  tx.run(
    `UPDATE jobs SET progress = :progress, note = :note, checkpoint = :checkpoint WHERE id = :id AND ticket = :ticket`,
    { id, ticket, ...saved },
  );
}

interface Delay {
  readonly runAfter: number;
  readonly note: string;
  readonly surprises: number;
}

export function requeueJob(tx: Tx, id: number, ticket: string, delay: Delay): void {
  tx.run(
    `UPDATE jobs SET state = 'queued', ticket = NULL, run_after = :runAfter, note = :note, surprises = :surprises
     WHERE id = :id AND ticket = :ticket`,
    { id, ticket, ...delay },
  );
}

interface Ending {
  readonly state: 'done' | 'failed';
  readonly error: string | null;
  readonly now: number;
}

/** Only whoever holds the ticket ends the job. */
export function finishJob(tx: Tx, id: number, ticket: string, { state, error, now }: Ending): boolean {
  return (
    tx.run(
      `UPDATE jobs SET state = :state, error = :error, ticket = NULL, finished_at = :now,
         progress = CASE :state WHEN 'done' THEN 100 ELSE progress END
       WHERE id = :id AND ticket = :ticket`,
      { id, ticket, state, error, now },
    ).changes === 1
  );
}

/** One process owns the file, so at its start nobody can still hold a ticket: what ran goes on. */
export function releaseAbandoned(tx: Tx): number {
  return tx.run(`UPDATE jobs SET state = 'queued', ticket = NULL, run_after = 0 WHERE state = 'running'`).changes;
}

export function deleteFinishedBefore(tx: Tx, time: number): void {
  tx.run(`DELETE FROM jobs WHERE finished_at < :time`, { time });
}

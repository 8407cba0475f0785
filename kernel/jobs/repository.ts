import { generated, plain, Table } from '../records/table.ts';
import type { Db, Tx } from '../store/index.ts';
import type { Job } from './job.ts';

/** With its start time. */
interface StoredJob extends Job {
  readonly runAfter: number;
}

const jobs = new Table<StoredJob, 'id'>('jobs', {
  id: generated('id'),
  kind: plain('kind'),
  subject: plain('subject'),
  arguments: plain('arguments'),
  state: plain('state'),
  ticket: plain('ticket'),
  checkpoint: plain('checkpoint'),
  progress: plain('progress'),
  note: plain('note'),
  attempts: plain('attempts'),
  surprises: plain('surprises'),
  error: plain('error'),
  createdAt: plain('created_at'),
  finishedAt: plain('finished_at'),
  runAfter: plain('run_after'),
});

interface NewJob {
  readonly kind: string;
  readonly subject: string;
  readonly arguments: string;
  readonly now: number;
}

export function insertJob(tx: Tx, { now, ...job }: NewJob): number {
  return jobs.insert(tx, {
    ...job,
    state: 'queued',
    ticket: null,
    checkpoint: null,
    progress: 0,
    note: '',
    attempts: 0,
    surprises: 0,
    error: null,
    createdAt: now,
    finishedAt: null,
    runAfter: now,
  });
}

export function findJob(db: Db, id: number): Job | undefined {
  return jobs.get(db, `SELECT ${jobs.fields()} FROM jobs WHERE id = :id`, { id });
}

/** The jobs that may start now: the oldest unfinished one of each subject, if it is due. */
export function findStartable(db: Db, now: number, limit: number): Job[] {
  return jobs.all(
    db,
    `SELECT ${jobs.fields('job')} FROM jobs AS job
     WHERE state = 'queued' AND run_after <= :now
       AND NOT EXISTS (SELECT 1 FROM jobs AS earlier WHERE earlier.subject = job.subject
                       AND earlier.id < job.id AND earlier.state IN ('queued', 'running'))
     ORDER BY run_after, id LIMIT :limit`,
    { now, limit },
  );
}

/** The oldest job of the subject that is queued or running. */
export function findUnfinished(db: Db, subject: string): number | undefined {
  const sql = `SELECT id FROM jobs WHERE subject = :subject AND state IN ('queued', 'running') ORDER BY id LIMIT 1`;
  return db.get<{ id: number }>(sql, { subject })?.id;
}

/** When the next delayed job becomes due. */
export function findNextStart(db: Db, now: number): number | undefined {
  const sql = `SELECT min(run_after) AS at FROM jobs WHERE state = 'queued' AND run_after > :now`;
  return db.get<{ at: number | null }>(sql, { now })?.at ?? undefined;
}

/** Claims a job with a ticket; false when another run has claimed it. */
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
  saved: Pick<Job, 'progress' | 'note' | 'checkpoint'>,
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

/** Only the run that holds the ticket ends the job. */
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

/** One process owns the file, so no ticket of an earlier process is valid: its jobs resume. */
export function releaseAbandoned(tx: Tx): number {
  return tx.run(`UPDATE jobs SET state = 'queued', ticket = NULL, run_after = 0 WHERE state = 'running'`).changes;
}

export function deleteFinishedBefore(tx: Tx, time: number): void {
  tx.run(`DELETE FROM jobs WHERE finished_at < :time`, { time });
}

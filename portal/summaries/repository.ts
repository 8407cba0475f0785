import type { ArraySummary } from '@granary/contract';
import { json, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { ArrayId } from '../ids.ts';

/** What an array last said of its inside. */
export interface KeptSummary {
  readonly arrayId: ArrayId;
  readonly learntAt: number;
  readonly summary: ArraySummary;
}

const summaries = new Table<KeptSummary>('array_summaries', {
  arrayId: plain('array_id'),
  learntAt: plain('learnt_at'),
  summary: json('summary'),
});

export function listSummaries(db: Db): KeptSummary[] {
  return summaries.all(db, `SELECT ${summaries.fields()} FROM array_summaries`);
}

export function putSummary(tx: Tx, summary: KeptSummary): void {
  deleteSummary(tx, summary.arrayId);
  summaries.insert(tx, summary);
}

export function deleteSummary(tx: Tx, arrayId: ArrayId): void {
  tx.run('DELETE FROM array_summaries WHERE array_id = :arrayId', { arrayId });
}

import type { Db, Tx } from '@granary/kernel';
import { FIGURES, type Figures } from './figures.ts';
import { ageingAt, levels } from './levels.ts';
import type { Measured, Subject } from './slots.ts';

interface ActivityRow extends Figures {
  readonly slot: number;
  readonly step: number;
}

/** Of each step, how many slots of the next one are filled in one go: a long ageing is done in pieces. */
const SLOTS_AGED_MAX = 10;

const COLUMNS = FIGURES.join(', ');
const SUMS = FIGURES.map((name) => `sum(${name})`).join(', ');
const ADDED = `ON CONFLICT DO UPDATE SET ${FIGURES.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`;
const ADD = `INSERT INTO activity (kind, name, step, slot, ${COLUMNS})
  VALUES (:kind, :name, :step, :slot, ${FIGURES.map((name) => `:${name}`).join(', ')}) ${ADDED}`;
const AGE = `INSERT INTO activity (kind, name, step, slot, ${COLUMNS})
  SELECT kind, name, :to, slot - slot % :to, ${SUMS} FROM activity WHERE step = :from AND slot < :before
  GROUP BY kind, name, slot - slot % :to ${ADDED}`;

export function addActivity(tx: Tx, { kind, name }: Subject, { slot, step, figures }: Measured): void {
  tx.run(ADD, { ...figures, kind, name, slot, step });
}

/** What a subject did from a moment on, in seconds; each thing in one row. */
export function listActivity(db: Db, { kind, name }: Subject, from: number): Measured[] {
  const sql = `SELECT slot, step, ${COLUMNS} FROM activity
    WHERE kind = :kind AND name = :name AND step = :step AND slot > :from - :step`;
  return levels.flatMap(({ step }) =>
    db
      .all<ActivityRow>(sql, { kind, name, step, from })
      .map(({ slot, step: covered, ...figures }) => ({ slot, step: covered, figures })),
  );
}

/** Adds what is old to coarser figures; whether there may be more to do. */
export function ageActivity(tx: Tx, now: number): boolean {
  let isMore = false;
  for (const { from, to, before } of ageingAt(now)) {
    const sql = 'SELECT min(slot) AS slot FROM activity WHERE step = :from';
    const oldest = tx.get<{ slot: number | null }>(sql, { from })?.slot ?? null;
    if (oldest === null || oldest >= before) continue;
    const piece = Math.min(before, (Math.floor(oldest / to) + SLOTS_AGED_MAX) * to);
    tx.run(AGE, { from, to, before: piece });
    tx.run('DELETE FROM activity WHERE step = :from AND slot < :before', { from, before: piece });
    if (piece < before) isMore = true;
  }
  return isMore;
}

export function deleteActivity(tx: Tx, { kind, name }: Subject): void {
  tx.run('DELETE FROM activity WHERE kind = :kind AND name = :name', { kind, name });
}

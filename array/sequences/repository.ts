import type { Db, Tx } from '@granary/kernel';
import type { Name } from './name.ts';

/** The next number of a kind. None is ever used twice. */
export function nextNumber(tx: Tx, kind: string): number {
  return reserveNumbers(tx, kind, 1);
}

/** The next identifier of a kind: `volume-00000001`. */
export function nextName<Kind extends string>(tx: Tx, kind: Kind): Name<Kind> {
  return nameOf(kind, nextNumber(tx, kind));
}

/** The next `count`, in order. */
export function nextNames<Kind extends string>(tx: Tx, kind: Kind, count: number): Name<Kind>[] {
  const last = reserveNumbers(tx, kind, count);
  return Array.from({ length: count }, (_, index) => nameOf(kind, last - count + 1 + index));
}

/** Whether there ever was one of that kind. */
export function isSequenceUsed(db: Db, kind: string): boolean {
  return db.get('SELECT 1 FROM sequences WHERE name = :kind', { kind }) !== undefined;
}

/** At least so far: names up to this one were used, whatever is on record. */
export function moveSequence(tx: Tx, kind: string, last: number): void {
  const sql = 'INSERT INTO sequences VALUES (:kind, :last) ON CONFLICT DO UPDATE SET last = max(last, excluded.last)';
  tx.run(sql, { kind, last });
}

/** The last of those that were taken. */
function reserveNumbers(tx: Tx, kind: string, count: number): number {
  const sql = `INSERT INTO sequences VALUES (:kind, :count)
    ON CONFLICT DO UPDATE SET last = last + excluded.last RETURNING last`;
  return tx.get<{ last: number }>(sql, { kind, count })?.last ?? 0;
}

function nameOf<Kind extends string>(kind: Kind, number: number): Name<Kind> {
  return `${kind}-${number.toString(16).padStart(8, '0')}` as Name<Kind>;
}

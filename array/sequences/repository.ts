import type { Tx } from '@granary/kernel';

/** The next number of a kind. None is ever used twice. */
export function nextNumber(tx: Tx, kind: string): number {
  tx.run('INSERT INTO sequences VALUES (:kind, 1) ON CONFLICT DO UPDATE SET last = last + 1', { kind });
  return tx.get<{ last: number }>('SELECT last FROM sequences WHERE name = :kind', { kind })?.last ?? 0;
}

/** The next identifier of a kind: `volume-00000001`. */
export function nextName(tx: Tx, kind: string): string {
  return `${kind}-${nextNumber(tx, kind).toString(16).padStart(8, '0')}`;
}

/** At least so far: names up to this one were used, whatever is on record. */
export function moveSequence(tx: Tx, kind: string, last: number): void {
  const sql = 'INSERT INTO sequences VALUES (:kind, :last) ON CONFLICT DO UPDATE SET last = max(last, excluded.last)';
  tx.run(sql, { kind, last });
}

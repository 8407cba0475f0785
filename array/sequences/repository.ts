import type { Tx } from '@granary/kernel';

/** The next identifier of a kind: `volume-00000001`. Numbers are never used twice. */
export function nextName(tx: Tx, kind: string): string {
  tx.run('INSERT INTO sequences VALUES (:kind, 1) ON CONFLICT DO UPDATE SET last = last + 1', { kind });
  const last = tx.get<{ last: number }>('SELECT last FROM sequences WHERE name = :kind', { kind })?.last ?? 0;
  return `${kind}-${last.toString(16).padStart(8, '0')}`;
}

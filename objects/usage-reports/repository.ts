import type { Db, Tx } from '@granary/kernel';
import type { Transfer } from './transfers.ts';

export interface Transferred {
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export function addTransfers(tx: Tx, transfers: readonly Transfer[]): void {
  for (const transfer of transfers)
    tx.run(
      `INSERT INTO transfers (account, day, bytes_in, bytes_out, puts, gets, deletes, others)
       VALUES (:account, :day, :bytesIn, :bytesOut, :puts, :gets, :deletes, :others)
       ON CONFLICT DO UPDATE SET bytes_in = bytes_in + excluded.bytes_in, bytes_out = bytes_out + excluded.bytes_out,
         puts = puts + excluded.puts, gets = gets + excluded.gets, deletes = deletes + excluded.deletes,
         others = others + excluded.others`,
      { ...transfer },
    );
}

/** From one day to another, the last not among them. */
export function sumTransfers(db: Db, account: string, from: number, to: number): Transferred {
  const sql = `SELECT coalesce(sum(bytes_in), 0) AS bytesIn, coalesce(sum(bytes_out), 0) AS bytesOut
    FROM transfers WHERE account = :account AND day >= :from AND day < :to`;
  return db.get<Transferred>(sql, { account, from, to }) ?? { bytesIn: 0, bytesOut: 0 };
}

export function deleteTransfers(tx: Tx, account: string): void {
  tx.run('DELETE FROM transfers WHERE account = :account', { account });
}

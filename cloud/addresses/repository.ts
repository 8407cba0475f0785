import type { Db, Tx } from '@granary/kernel';

/** The number of the array that has an address in a virtual network. */
export function findOwner(db: Db, address: string): number | undefined {
  return db.get<{ array: number }>('SELECT array FROM interface_addresses WHERE address = :address', { address })
    ?.array;
}

export function listOwned(db: Db, array: number): string[] {
  const sql = 'SELECT address FROM interface_addresses WHERE array = :array ORDER BY address';
  return db.all<{ address: string }>(sql, { array }).map(({ address }) => address);
}

export function listOwnedByAll(db: Db): { readonly address: string; readonly array: number }[] {
  return db.all('SELECT address, array FROM interface_addresses ORDER BY address');
}

export function claimAddress(tx: Tx, address: string, array: number): void {
  tx.run('INSERT INTO interface_addresses (address, array) VALUES (:address, :array)', { address, array });
}

/** Gives back what the array has beyond the addresses it keeps. */
export function releaseAddresses(tx: Tx, array: number, kept: readonly string[]): void {
  tx.run(
    `DELETE FROM interface_addresses
     WHERE array = :array AND address NOT IN (SELECT value FROM json_each(:kept))`,
    { array, kept: JSON.stringify(kept) },
  );
}

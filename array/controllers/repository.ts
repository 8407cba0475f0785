import type { Db, Tx } from '@granary/kernel';

/** What servers show that have no secret of their own. */
export interface SealedChap {
  readonly user: string;
  readonly secret: string;
}

export function findChap(db: Db): SealedChap | undefined {
  return db.get<SealedChap>('SELECT array_user AS user, array_secret AS secret FROM chap WHERE id = 1');
}

export function insertChap(tx: Tx, { user, secret }: SealedChap): void {
  tx.run('INSERT INTO chap (id, array_user, array_secret) VALUES (1, :user, :secret) ON CONFLICT DO NOTHING', {
    user,
    secret,
  });
}

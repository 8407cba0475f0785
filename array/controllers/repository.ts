import type { Db, Tx } from '@granary/kernel';
import { readSetting, writeSetting } from '../settings/repository.ts';

/** A name, and its secret as it is kept. */
export interface SealedChap {
  readonly user: string;
  readonly secret: string;
}

/** The setting with the name and sealed secret of the array's own proof; empty while there is none. */
const HOST = 'host_chap';

/** What servers show that have no secret of their own. */
export function findChap(db: Db): SealedChap | undefined {
  return db.get<SealedChap>('SELECT array_user AS user, array_secret AS secret FROM chap WHERE id = 1');
}

export function insertChap(tx: Tx, { user, secret }: SealedChap): void {
  tx.run('INSERT INTO chap (id, array_user, array_secret) VALUES (1, :user, :secret) ON CONFLICT DO NOTHING', {
    user,
    secret,
  });
}

export function updateChap(tx: Tx, { user, secret }: SealedChap): void {
  tx.run('UPDATE chap SET array_user = :user, array_secret = :secret WHERE id = 1', { user, secret });
}

/** What the array proves to servers that have no secret of their own for that. */
export function findHostChap(db: Db): SealedChap | undefined {
  const kept = readSetting(db, HOST) ?? '';
  return kept === '' ? undefined : (JSON.parse(kept) as SealedChap);
}

export function putHostChap(tx: Tx, chap: SealedChap | undefined): void {
  writeSetting(tx, HOST, chap === undefined ? '' : JSON.stringify({ user: chap.user, secret: chap.secret }));
}

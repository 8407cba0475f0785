import { plain, Table, type Db, type Tx } from '@granary/kernel';
import type { Peer, PeerWithSecret } from './peer.ts';

const peers = new Table<Peer>('peers', {
  uuid: plain('uuid'),
  name: plain('name'),
  displayName: plain('display_name'),
  provider: plain('provider'),
  softwareVersion: plain('software_version'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

export function putPeer(tx: Tx, peer: Peer): void {
  const { uuid, createdAt: _, ...change } = peer;
  if (peers.update(tx, { uuid }, change) === 0) peers.insert(tx, peer);
}

/** The one before stays good as well: a caller that was cut off may not have kept the new one. */
export function addPeerKey(tx: Tx, peer: string, mark: string, sealed: string, now: number): void {
  tx.run(
    `DELETE FROM peer_keys WHERE peer = :peer
       AND mark NOT IN (SELECT mark FROM peer_keys WHERE peer = :peer ORDER BY created_at DESC LIMIT 1)`,
    { peer },
  );
  tx.run(`INSERT INTO peer_keys (mark, peer, shared_secret, created_at) VALUES (:mark, :peer, :sealed, :now)`, {
    mark,
    peer,
    sealed,
    now,
  });
}

export function findPeerByKey(db: Db, mark: string): PeerWithSecret | undefined {
  const sql = `SELECT ${peers.fields('p')}, k.shared_secret AS sealedSecret
    FROM peer_keys AS k JOIN peers AS p ON p.uuid = k.peer WHERE k.mark = :mark`;
  return peers.get<Pick<PeerWithSecret, 'sealedSecret'>>(db, sql, { mark });
}

export function findPeer(db: Db, uuid: string): Peer | undefined {
  return peers.get(db, `SELECT ${peers.fields()} FROM peers WHERE uuid = :uuid`, { uuid });
}

export function countPeers(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM peers')?.n ?? 0;
}

export function removePeer(tx: Tx, uuid: string): void {
  tx.run('DELETE FROM peers WHERE uuid = :uuid', { uuid });
}

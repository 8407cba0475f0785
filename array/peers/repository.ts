import type { Db, Tx } from '@granary/kernel';

/** Another array that may call this one. */
export interface PeerRow {
  readonly uuid: string;
  readonly name: string;
  readonly display_name: string;
  readonly provider: string;
  readonly software_version: string;
  readonly created_at: number;
  readonly modified_at: number;
}

export interface PeerWithSecret extends PeerRow {
  readonly shared_secret: string;
}

export function putPeer(tx: Tx, row: PeerRow): void {
  tx.run(
    `INSERT INTO peers (uuid, name, display_name, provider, software_version, created_at, modified_at)
     VALUES (:uuid, :name, :display_name, :provider, :software_version, :created_at, :modified_at)
     ON CONFLICT (uuid) DO UPDATE SET name = :name, display_name = :display_name, provider = :provider,
       software_version = :software_version, modified_at = :modified_at`,
    { ...row },
  );
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
  const sql = 'SELECT p.*, k.shared_secret FROM peer_keys AS k JOIN peers AS p ON p.uuid = k.peer WHERE k.mark = :mark';
  return db.get<PeerWithSecret>(sql, { mark });
}

export function findPeer(db: Db, uuid: string): PeerRow | undefined {
  return db.get<PeerRow>('SELECT * FROM peers WHERE uuid = :uuid', { uuid });
}

export function countPeers(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM peers')?.n ?? 0;
}

export function removePeer(tx: Tx, uuid: string): void {
  tx.run('DELETE FROM peers WHERE uuid = :uuid', { uuid });
}

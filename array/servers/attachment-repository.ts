import { flag, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { NfsClient } from '../shares/readers.ts';
import { serverTable } from './repository.ts';
import type { Attachment, ServerWithAttachment, Unit } from './server.ts';

const attachments = new Table<Attachment>('attachments', {
  volume: plain('volume'),
  server: plain('server'),
  accessType: plain('access_type'),
  lun: plain('lun'),
  isReadOnly: flag('read_only'),
  createdAt: plain('created_at'),
});

export function insertAttachment(tx: Tx, attachment: Attachment): void {
  attachments.insert(tx, attachment);
}

export function deleteAttachment(tx: Tx, volume: string, server: string): boolean {
  const { changes } = tx.run('DELETE FROM attachments WHERE volume = :volume AND server = :server', { volume, server });
  return changes > 0;
}

export function setAttachmentReadOnly(tx: Tx, volume: string, server: string, isReadOnly: boolean): boolean {
  return attachments.update(tx, { volume, server }, { isReadOnly }) > 0;
}

export function findAttachment(db: Db, volume: string, server: string): Attachment | undefined {
  const sql = `SELECT ${attachments.fields()} FROM attachments WHERE volume = :volume AND server = :server`;
  return attachments.get(db, sql, { volume, server });
}

/** The servers that have a volume. */
export function serversHaving(db: Db, volume: string): string[] {
  const rows = db.all<{ server: string }>('SELECT server FROM attachments WHERE volume = :volume ORDER BY server', {
    volume,
  });
  return rows.map(({ server }) => server);
}

export function listServersOfVolume(db: Db, volume: string, start: number, limit: number): ServerWithAttachment[] {
  const servers = serverTable.all<Pick<Attachment, 'accessType' | 'lun'> & { readonly readOnly: number }>(
    db,
    `SELECT ${serverTable.fields()}, access_type AS accessType, lun, read_only AS readOnly
     FROM attachments JOIN servers ON servers.name = attachments.server
     WHERE volume = :volume ORDER BY server LIMIT :limit OFFSET :start`,
    { volume, start, limit: limit === 0 ? -1 : limit },
  );
  return servers.map(({ readOnly, ...server }) => ({ ...server, isReadOnly: readOnly === 1 }));
}

export function countServersOfVolume(db: Db, volume: string): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM attachments WHERE volume = :volume', { volume })?.n ?? 0;
}

/** Shares first, then volumes in the order of their LUNs. */
export function listVolumesOfServer(db: Db, server: string, start: number, limit: number): string[] {
  const rows = db.all<{ volume: string }>(
    'SELECT volume FROM attachments WHERE server = :server ORDER BY lun, volume LIMIT :limit OFFSET :start',
    { server, start, limit: limit === 0 ? -1 : limit },
  );
  return rows.map(({ volume }) => volume);
}

export function countVolumesOfServer(db: Db, server: string): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM attachments WHERE server = :server', { server })?.n ?? 0;
}

export function isLunTaken(db: Db, server: string, lun: number): boolean {
  return db.get('SELECT 1 FROM attachments WHERE server = :server AND lun = :lun', { server, lun }) !== undefined;
}

/** The lowest number no volume of the server has. */
export function firstFreeLun(db: Db, server: string): number {
  const { highest, count } = db.get<{ highest: number | null; count: number }>(
    'SELECT max(lun) AS highest, count(lun) AS count FROM attachments WHERE server = :server',
    { server },
  ) ?? { highest: null, count: 0 };
  if (highest === null || count === highest + 1) return count;
  if (!isLunTaken(db, server, 0)) return 0;
  const gap = db.get<{ lun: number }>(
    `SELECT lun + 1 AS lun FROM attachments AS one
     WHERE server = :server AND lun IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM attachments WHERE server = :server AND lun = one.lun + 1)
     ORDER BY lun LIMIT 1`,
    { server },
  );
  return gap?.lun ?? count;
}

type UnitOnRecord = Omit<Unit, 'isReadOnly'> & { readonly readOnly: number };

/** Of one server, or of all, those of one server together. */
export function listUnits(db: Db, server: string | null): Unit[] {
  const units = `SELECT server, volume, lun, read_only AS readOnly, wwid FROM attachments JOIN volumes ON volumes.name = volume
    WHERE access_type = 'ISCSI'`;
  const found =
    server === null
      ? db.all<UnitOnRecord>(`${units} ORDER BY server, lun`)
      : db.all<UnitOnRecord>(`${units} AND server = :server ORDER BY lun`, { server });
  return found.map(({ readOnly, ...unit }) => ({ ...unit, isReadOnly: readOnly === 1 }));
}

/** The servers that have a share over NFS and say where they come from. */
export function listNfsClients(db: Db, volume: string): NfsClient[] {
  const clients = db.all<Omit<NfsClient, 'isReadOnly'> & { readonly readOnly: number }>(
    `SELECT a.server, s.address, a.read_only AS readOnly FROM attachments AS a JOIN servers AS s ON s.name = a.server
     WHERE a.volume = :volume AND a.access_type = 'NFS' AND s.address IS NOT NULL ORDER BY a.server`,
    { volume },
  );
  return clients.map(({ readOnly, ...client }) => ({ ...client, isReadOnly: readOnly === 1 }));
}

export function hasNfsClients(db: Db, volume: string): boolean {
  return db.get(`SELECT 1 FROM attachments WHERE volume = :volume AND access_type = 'NFS'`, { volume }) !== undefined;
}

/** The shares attached to a server, over whatever protocol. */
export function listSharesOfServer(db: Db, server: string): string[] {
  const sql = `SELECT volume FROM attachments WHERE server = :server AND access_type <> 'ISCSI' ORDER BY volume`;
  return db.all<{ volume: string }>(sql, { server }).map(({ volume }) => volume);
}

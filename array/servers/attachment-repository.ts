import type { Db, Tx } from '@granary/kernel';
import type { ServerRow } from './repository.ts';

export interface AttachmentRow {
  readonly volume: string;
  readonly server: string;
  readonly access_type: 'NFS' | 'SMB' | 'ISCSI';
  /** A share has none. */
  readonly lun: number | null;
  readonly read_only: number;
  readonly created_at: number;
}

/** A unit as the engine shows it to a server. */
export interface UnitRow {
  readonly server: string;
  readonly volume: string;
  readonly lun: number;
  readonly read_only: number;
  readonly wwid: string;
}

export type ServerWithAttachment = ServerRow & Pick<AttachmentRow, 'access_type' | 'lun' | 'read_only'>;

export function insertAttachment(tx: Tx, attachment: AttachmentRow): void {
  tx.run('INSERT INTO attachments VALUES (:volume, :server, :access_type, :lun, :read_only, :created_at)', {
    ...attachment,
  });
}

export function deleteAttachment(tx: Tx, volume: string, server: string): boolean {
  const { changes } = tx.run('DELETE FROM attachments WHERE volume = :volume AND server = :server', { volume, server });
  return changes > 0;
}

export function setAttachmentReadOnly(tx: Tx, volume: string, server: string, readOnly: boolean): boolean {
  const { changes } = tx.run(
    'UPDATE attachments SET read_only = :readOnly WHERE volume = :volume AND server = :server',
    { volume, server, readOnly: Number(readOnly) },
  );
  return changes > 0;
}

export function findAttachment(db: Db, volume: string, server: string): AttachmentRow | undefined {
  return db.get<AttachmentRow>('SELECT * FROM attachments WHERE volume = :volume AND server = :server', {
    volume,
    server,
  });
}

/** The servers that have a volume. */
export function serversHaving(db: Db, volume: string): string[] {
  const rows = db.all<{ server: string }>('SELECT server FROM attachments WHERE volume = :volume ORDER BY server', {
    volume,
  });
  return rows.map(({ server }) => server);
}

export function listServersOfVolume(db: Db, volume: string, start: number, limit: number): ServerWithAttachment[] {
  return db.all<ServerWithAttachment>(
    `SELECT servers.*, access_type, lun, read_only FROM attachments JOIN servers ON servers.name = attachments.server
     WHERE volume = :volume ORDER BY server LIMIT :limit OFFSET :start`,
    { volume, start, limit: limit === 0 ? -1 : limit },
  );
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

/** Of one server, or of all, those of one server together. */
export function listUnits(db: Db, server: string | null): UnitRow[] {
  const units = `SELECT server, volume, lun, read_only, wwid FROM attachments JOIN volumes ON volumes.name = volume
    WHERE access_type = 'ISCSI'`;
  return server === null
    ? db.all<UnitRow>(`${units} ORDER BY server, lun`)
    : db.all<UnitRow>(`${units} AND server = :server ORDER BY lun`, { server });
}

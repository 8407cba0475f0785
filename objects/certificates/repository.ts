import type { Db, Tx } from '@granary/kernel';

export interface CertificateRow {
  readonly kind: 'default' | 'installed';
  readonly certificate: string;
  readonly private_key: string;
}

export function findCertificate(db: Db, kind: CertificateRow['kind']): CertificateRow | undefined {
  return db.get<CertificateRow>('SELECT kind, certificate, private_key FROM certificates WHERE kind = :kind', { kind });
}

export function saveCertificate(tx: Tx, row: CertificateRow, now: number): void {
  tx.run(
    `INSERT INTO certificates VALUES (:kind, :certificate, :private_key, :now)
     ON CONFLICT (kind) DO UPDATE SET certificate = :certificate, private_key = :private_key, made_at = :now`,
    { ...row, now },
  );
}

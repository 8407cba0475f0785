import { plain, Table, type Db, type Tx } from '@granary/kernel';
import type { StoredCertificate } from './certificate.ts';

const certificates = new Table<StoredCertificate>('certificates', {
  kind: plain('kind'),
  certificate: plain('certificate'),
  keySealed: plain('private_key'),
  madeAt: plain('made_at'),
});

export function findCertificate(db: Db, kind: StoredCertificate['kind']): StoredCertificate | undefined {
  return certificates.get(db, `SELECT ${certificates.fields()} FROM certificates WHERE kind = :kind`, { kind });
}

/** In place of the one before. */
export function saveCertificate(tx: Tx, certificate: StoredCertificate): void {
  const { kind, ...changes } = certificate;
  if (certificates.update(tx, { kind }, changes) === 0) certificates.insert(tx, certificate);
}

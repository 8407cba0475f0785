/** A certificate of the data path, with its key. */
export interface StoredCertificate {
  readonly kind: 'default' | 'installed';
  readonly certificate: string;
  readonly keySealed: string;
  readonly madeAt: number;
}

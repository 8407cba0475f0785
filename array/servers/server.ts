import type { Name } from '../sequences/name.ts';

/** Who may use the array's volumes. Secrets are sealed. */
export interface Server {
  readonly name: Name<'srv'>;
  readonly displayName: string;
  readonly os: string | null;
  readonly iqn: string | null;
  /** Or network as address/bits. */
  readonly address: string | null;
  readonly arrayChapUser: string | null;
  readonly arrayChapSecret: string | null;
  readonly hostChapUser: string | null;
  readonly hostChapSecret: string | null;
  readonly isMonitored: boolean;
  readonly isConnected: boolean;
  readonly lastCheckAt: number | null;
  readonly stateChangedAt: number | null;
  /** The user; null is the administrators. */
  readonly createdBy: number | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** What people set of a server. */
export type ServerFields = Pick<
  Server,
  | 'displayName'
  | 'os'
  | 'iqn'
  | 'address'
  | 'arrayChapUser'
  | 'arrayChapSecret'
  | 'hostChapUser'
  | 'hostChapSecret'
  | 'isMonitored'
>;

/** A volume that a server may reach. */
export interface Attachment {
  readonly volume: Name<'volume'>;
  readonly server: Name<'srv'>;
  readonly accessType: 'NFS' | 'SMB' | 'ISCSI';
  /** A share has none. */
  readonly lun: number | null;
  readonly isReadOnly: boolean;
  readonly createdAt: number;
}

export type ServerWithAttachment = Server & Pick<Attachment, 'accessType' | 'lun' | 'isReadOnly'>;

/** A unit as the engine shows it to a server. */
export interface Unit {
  readonly server: Name<'srv'>;
  readonly volume: Name<'volume'>;
  readonly lun: number;
  readonly isReadOnly: boolean;
  readonly wwid: string;
}

/** A user of shares. The password is for SMB, sealed. */
export interface NasAccount {
  readonly name: string;
  readonly uid: number | null;
  readonly password: string | null;
  readonly primaryGroup: string | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export interface NasUser extends NasAccount {
  /** Beyond the primary group, in the order of their names. */
  readonly groups: readonly string[];
}

export interface NasGroup {
  readonly name: string;
  readonly gid: number | null;
  readonly isSmb: boolean;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export type AccountKind = 'user' | 'group';

export interface NumberedName {
  readonly name: string;
  readonly number: number;
}

/** Another array that mirrors go to. */
export interface RemoteArray {
  readonly name: string;
  readonly uuid: string;
  readonly remoteName: string;
  readonly displayName: string;
  readonly provider: string;
  readonly softwareVersion: string;
  readonly isEncryptionActive: boolean;
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly interface: 'public' | 'vni0' | 'fe';
  readonly proxy: string | null;
  readonly sealedSecret: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export interface RemotePool {
  readonly name: string;
  readonly remoteArray: string;
  readonly remoteName: string;
  readonly displayName: string;
  /** As the other array shows it. */
  readonly capacityGb: number;
  readonly availableGb: number;
  readonly isThere: boolean;
}

/** What an array says of itself. */
export type RemoteIdentity = Pick<
  RemoteArray,
  'remoteName' | 'displayName' | 'provider' | 'softwareVersion' | 'isEncryptionActive'
>;

/** Another array that may call this one. */
export interface Peer {
  readonly uuid: string;
  readonly name: string;
  readonly displayName: string;
  readonly provider: string;
  readonly softwareVersion: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export interface PeerWithSecret extends Peer {
  readonly sealedSecret: string;
}

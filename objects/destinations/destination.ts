export type DestinationType = 'EXT_S3' | 'OBJS_S3';

/** An S3 service elsewhere that buckets are replicated to. */
export interface Destination {
  readonly id: number;
  readonly displayName: string;
  readonly type: DestinationType;
  /** As it was given. */
  readonly endpoint: string;
  /** Where it answered: `https://host:port`. */
  readonly url: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretSealed: string;
  readonly connectVia: 'fe' | 'outnet';
  /** Why nothing gets through since it last did. */
  readonly problem: string | null;
  /** False: known before there were grants, until the accounts that use it got theirs. */
  readonly hasGrants: boolean;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** That an account may replicate to a destination. */
export interface Grant {
  readonly destination: number;
  readonly account: string;
  /** Before the name of each object of the account at the remote endpoint. */
  readonly prefix: string;
  /** One that was revoked is kept with its prefix. */
  readonly revoked: boolean;
  readonly createdAt: number;
}

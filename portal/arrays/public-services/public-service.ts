import type { ArrayId } from '../../ids.ts';

/** The offer of an array to people without a portal account. */
export interface PublicService {
  readonly id: number;
  readonly arrayId: ArrayId;
  readonly state: 'opening' | 'open' | 'changing' | 'closing';
  readonly accountName: string;
  /** Its account's id on the array, once it is there. */
  readonly remoteId: string | null;
  readonly username: string;
  readonly passwordSealed: string;
  /** Address and port. */
  readonly ip: string;
  readonly host: string;
  readonly autoApprove: boolean;
  readonly changedAt: number;
}

/** Where the array serves it. */
export interface ServicePlace {
  readonly address: string;
  readonly port: number;
  readonly host: string;
}

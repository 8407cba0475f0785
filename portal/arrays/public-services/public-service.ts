import type { ArrayId } from '../../ids.ts';

/** The offer of an array to people without a portal account. */
export interface PublicService {
  readonly id: number;
  readonly arrayId: ArrayId;
  readonly accountName: string;
  readonly username: string;
  readonly passwordSealed: string;
  readonly ip: string;
  readonly host: string;
  readonly autoApprove: boolean;
  readonly price: string;
}

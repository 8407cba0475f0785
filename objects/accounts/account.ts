import { randomBytes } from 'node:crypto';

export type AccountStage = 'normal' | 'deleting' | 'deleted';

export interface Account {
  readonly id: string;
  readonly name: string;
  /** The one that administers the array. */
  readonly isSystem: boolean;
  readonly enabled: boolean;
  readonly state: AccountStage;
  /** Of the primary user; stays when that one is gone. */
  readonly email: string | null;
  readonly description: string | null;
  readonly metadataSealed: string | null;
  /** Changes a second; 0 for no limit, null where the global one holds. */
  readonly rateLimit: number | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** 32 hex digits: the form of account and user ids. */
export function newId(): string {
  return randomBytes(16).toString('hex');
}

import type { AccountId, ArrayId, RequestId, UserId } from '../ids.ts';

/** An account on an object storage array, as the portal keeps it. */
export interface ObjectAccount {
  readonly id: AccountId;
  readonly arrayId: ArrayId;
  readonly userId: UserId;
  readonly name: string;
  /** Its id on the array, once it is there. */
  readonly remoteId: string | null;
  readonly status: 'waiting_for_approval' | 'creating' | 'created' | 'deleting';
  readonly requestId: RequestId;
  /** What opening it needs and no reply shows, until it is open. */
  readonly secretsSealed: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

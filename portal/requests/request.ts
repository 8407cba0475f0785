import type { RequestKind } from '@granary/contract/portal';
import type { ArrayId, RequestId, UserId } from '../ids.ts';

/** What a user asks an administrator for. */
export interface PortalRequest {
  readonly id: RequestId;
  readonly name: string;
  readonly status: 'pending' | 'approved' | 'denied';
  readonly kind: RequestKind;
  readonly arrayId: ArrayId | null;
  readonly userId: UserId;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Kept until it is decided. */
  readonly secretsSealed: string | null;
  readonly reason: string | null;
  readonly createdAt: number;
  readonly decidedAt: number | null;
  readonly decidedBy: string | null;
}

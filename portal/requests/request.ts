import type { RequestKind } from '@granary/contract/portal';

/** What a user asks an administrator for. */
export interface PortalRequest {
  readonly id: number;
  readonly name: string;
  readonly status: 'pending' | 'approved' | 'denied';
  readonly kind: RequestKind;
  readonly arrayId: number | null;
  readonly userId: number;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Kept until it is decided. */
  readonly secretsSealed: string | null;
  readonly reason: string | null;
  readonly createdAt: number;
  readonly decidedAt: number | null;
  readonly decidedBy: string | null;
}

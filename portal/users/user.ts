import type { PortalRole } from '@granary/contract/portal';
import type { UserId } from '../ids.ts';

export interface User {
  readonly id: UserId;
  readonly uuid: string;
  readonly username: string;
  readonly email: string | null;
  readonly role: PortalRole;
  readonly autoApproved: boolean;
  readonly passwordHash: string;
  /** What the token is found by. */
  readonly tokenPrint: string;
  readonly tokenSealed: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Null while the user may sign in. */
  readonly disabledAt: number | null;
}

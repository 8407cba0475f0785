import type { RecordOf } from '@granary/contract';
import type { User as UserRecord } from '@granary/contract/portal';
import { formatUtc } from '@granary/kernel';
import type { User } from './user.ts';

export type UserView = RecordOf<typeof UserRecord>;

interface SignInFacts {
  /** For too many wrong passwords, at present. */
  readonly isRefused: boolean;
  readonly hasTotp: boolean;
}

export function userView(user: User, { isRefused, hasTotp }: SignInFacts): UserView {
  const enabled = user.disabledAt === null;
  return {
    id: user.id,
    username: user.username,
    email: user.email,
    role: user.role,
    auto_approved: user.autoApproved,
    enabled,
    locked: !enabled || isRefused,
    totp: hasTotp,
    created_at: formatUtc(user.createdAt),
    updated_at: formatUtc(user.updatedAt),
  };
}

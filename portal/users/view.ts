import type { RecordOf } from '@granary/contract';
import type { User as UserRecord } from '@granary/contract/portal';
import { formatUtc } from '@granary/kernel';
import type { User } from './user.ts';

export type UserView = RecordOf<typeof UserRecord>;

/** `isRefused`: sign-ins under the name are refused at present for too many wrong passwords. */
export function userView(user: User, isRefused: boolean): UserView {
  const enabled = user.disabledAt === null;
  return {
    id: user.id,
    username: user.username,
    email: user.email,
    role: user.role,
    auto_approved: user.autoApproved,
    enabled,
    locked: !enabled || isRefused,
    created_at: formatUtc(user.createdAt),
    updated_at: formatUtc(user.updatedAt),
  };
}

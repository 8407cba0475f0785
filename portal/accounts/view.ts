import type { RecordOf } from '@granary/contract';
import type { ObjectAccount as AccountRecord } from '@granary/contract/portal';
import { formatUtc } from '@granary/kernel';
import type { ObjectAccount } from './account.ts';
import type { AccountFigures } from './remote.ts';

export type AccountView = RecordOf<typeof AccountRecord>;

/** `figures`: what it holds, as its array counts it. */
export function accountView(account: ObjectAccount, figures: AccountFigures | undefined): AccountView {
  return {
    id: account.id,
    array_id: account.arrayId,
    user_id: account.userId,
    account_name: account.name,
    status: account.status,
    objs_request_id: account.requestId,
    used_capacity: figures?.usedGb ?? null,
    containers_count: figures?.containers ?? null,
    objects_count: figures?.objects ?? null,
    created_at: formatUtc(account.createdAt),
    updated_at: formatUtc(account.updatedAt),
  };
}

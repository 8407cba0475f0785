import { formatUtc } from '@granary/kernel';
import type { AccountRequest } from './request.ts';

export function requestView(request: AccountRequest) {
  return {
    id: request.id,
    arguments: { username: request.username, account: request.account, email: request.email },
    action: 'register_account',
    decided_by: request.decidedBy,
    decided_at: request.decidedAt === null ? null : formatUtc(request.decidedAt),
    requested_at: formatUtc(request.requestedAt),
  };
}

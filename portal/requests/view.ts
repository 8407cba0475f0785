import type { RecordOf } from '@granary/contract';
import type { ArrayRequest } from '@granary/contract/portal';
import { formatUtc } from '@granary/kernel';
import type { PortalRequest } from './request.ts';

export type RequestView = RecordOf<typeof ArrayRequest>;

export function requestView(request: PortalRequest): RequestView {
  return {
    id: request.id,
    name: request.name,
    status: request.status,
    kind: request.kind,
    array_id: request.arrayId,
    user_id: request.userId,
    arguments: request.arguments,
    reason: request.reason,
    created_at: formatUtc(request.createdAt),
    decided_at: request.decidedAt === null ? null : formatUtc(request.decidedAt),
    decided_by: request.decidedBy,
  };
}

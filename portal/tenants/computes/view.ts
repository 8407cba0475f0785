import type { RecordOf } from '@granary/contract';
import type { Compute as ComputeRecord } from '@granary/contract/portal';
import { formatUtc, GB } from '@granary/kernel';
import type { Compute } from './compute.ts';

export type ComputeView = RecordOf<typeof ComputeRecord>;

export function computeView(compute: Compute): ComputeView {
  return {
    id: compute.id,
    provider_id: compute.providerId,
    user_id: compute.userId,
    display_name: compute.displayName,
    display_description: compute.description,
    cores: compute.cores,
    ram: compute.ram / GB,
    instances: compute.instances,
    created_at: formatUtc(compute.createdAt),
  };
}

import type { RecordOf } from '@granary/contract';
import type { Provider as ProviderRecord } from '@granary/contract/portal';
import type { Provider, ProviderGroup } from './provider.ts';

export type ProviderView = RecordOf<typeof ProviderRecord>;

export interface GroupView {
  readonly id: string;
  readonly name: string;
}

/** All strings; what is absent appears as the text `null`. */
export function providerView(provider: Provider): ProviderView {
  return {
    id: String(provider.id),
    name: provider.name,
    key: provider.key,
    provider_group_id: String(provider.groupId),
    cloud_id: String(provider.cloudId),
    enabled: String(provider.enabled),
    hidden: String(provider.hidden),
  };
}

export function groupView({ id, name }: ProviderGroup): GroupView {
  return { id: String(id), name };
}

import type { HostedConfiguration } from '@granary/kernel';
import type { DataSettings } from '@granary/protocols/objects';
import type { EngineManagement } from '../management.ts';
import { hostsOf, publicUrls } from './addresses.ts';

/** Settings as the data path serves by them, and the limits that go with them. Plain data. */
export interface ServedSettings extends DataSettings {
  /** Changes a second that an account may make; 0 for no limit. Accounts may have limits of their own. */
  readonly changesPerSecond: number;
  /** Storage policies that accept nothing new because they are nearly full. */
  readonly fullPolicies: readonly number[];
}

export function servedSettings(configuration: HostedConfiguration, management: EngineManagement): ServedSettings {
  const settings = management.settings();
  return {
    arrayName: configuration.internalName,
    region: settings.region,
    hosts: hostsOf(configuration, settings),
    virtualHosted: settings.virtualHostedStyle,
    accountNames: settings.tenantNameInUrl,
    adminAccess: settings.adminAccess,
    publicUrl: publicUrls(configuration, settings)[0] ?? '',
    changesPerSecond: settings.rateLimitEnabled ? settings.rateLimit : 0,
    fullPolicies: management.fullPolicies(),
    destinations: management.destinations(),
    notificationHosts: settings.notificationHosts,
  };
}

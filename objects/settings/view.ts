import { formatUtc, ipv6AddressOf } from '@granary/kernel';
import manifest from '../package.json' with { type: 'json' };
import type { CurrentSettings } from './service.ts';

/** The record of the specification. `policyAction` says what is being done to storage policies, if anything. */
export function viewOf(
  { settings, configuration, createdAt, modifiedAt }: CurrentSettings,
  policyAction: string | null,
) {
  return {
    name: configuration.internalName,
    uuid: configuration.uuid,
    display_name: configuration.displayName,
    url: configuration.managementUrl,
    auth_service_url: `${configuration.managementUrl}/api/users/authenticate`,
    version: manifest.version,
    language: 'en',
    multi_zone: yesNo(configuration.zonesUsed > 1),
    floating_fe_ip: configuration.management.host,
    floating_fe_ipv6: ipv6AddressOf(configuration),
    // One process serves all: there is no network among controllers.
    floating_be_ip: null,
    publicip: configuration.publicAddress,
    auto_scale: yesNo(false),
    billing_unit: settings.billingUnit,
    upload_rate_per_gb: settings.uploadRatePerGb,
    download_rate_per_gb: settings.downloadRatePerGb,
    api_ip: settings.apiIp,
    api_hostname: settings.apiHostname,
    zswift_ratelimit_enabled: yesNo(settings.rateLimitEnabled),
    zswift_ratelimit: settings.rateLimit,
    vhs_state: yesNo(settings.virtualHostedStyle),
    admin_access_enabled: yesNo(settings.adminAccess),
    allow_tenant_name_in_url: yesNo(settings.tenantNameInUrl),
    token_expiry: settings.tokenMinutes,
    policy_action: policyAction,
    objs_upgrade: null,
    ssl_termination: settings.sslTermination ? ('on' as const) : ('off' as const),
    created_at: formatUtc(createdAt),
    modified_at: formatUtc(modifiedAt),
    expire_password: yesNo(settings.expirePassword),
    expire_password_after: settings.expirePasswordAfterSeconds,
    password_history: settings.passwordHistory,
  };
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}

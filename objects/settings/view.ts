import { formatUtc, ipv6AddressOf } from '@granary/kernel';
import manifest from '../package.json' with { type: 'json' };
import type { EncryptionMode } from '../encryption/service.ts';
import type { CurrentSettings, Settings } from './service.ts';

interface Surroundings {
  /** What is being done to storage policies, if anything. */
  readonly policyAction: string | null;
  readonly encryption: EncryptionMode;
}

/** The record of the specification, and what else can be set. */
export function viewOf(
  { settings, configuration, createdAt, modifiedAt }: CurrentSettings,
  { policyAction, encryption }: Surroundings,
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
    ...ownFields(settings),
    encryption,
  };
}

/** What can be set, though the specification's record does not show it. */
function ownFields({ mailServer: mail, ...settings }: Settings) {
  return {
    public_api_hostname: settings.publicApiHostname,
    region: settings.region,
    expansion_percent: settings.expansionPercent,
    load_balancer_mode: 'dr',
    custom_name_servers: [...settings.nameServers],
    dns_lookup_domain: settings.nameServersDomain,
    api_errors_enabled: yesNo(settings.errorAlerts),
    api_errors_threshold: settings.errorThreshold,
    smtp_host: mail?.host ?? null,
    smtp_port: mail?.port ?? null,
    smtp_secure: yesNo(mail?.secure ?? false),
    smtp_user: mail?.user ?? null,
    smtp_from: mail?.from ?? null,
  };
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}

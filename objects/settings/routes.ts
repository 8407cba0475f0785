import { isIP } from 'node:net';
import { badParameter, fail, formatUtc, type Clock } from '@granary/kernel';
import type { CertificateInfo } from '../certificates/pem.ts';
import type { Certificates } from '../certificates/service.ts';
import type { EncryptionService } from '../encryption/service.ts';
import type { ObjectsHandlers } from '../handlers.ts';
import type { ArraySettings, Settings } from './service.ts';
import { viewOf } from './view.ts';

const MS_A_DAY = 24 * 3600 * 1000;

interface SettingsParts {
  readonly settings: ArraySettings;
  readonly certificates: Certificates;
  readonly encryption: EncryptionService;
  readonly clock: Clock;
  /** What is being done to storage policies; null when nothing is. */
  readonly policyAction: () => string | null;
}

type Context = { readonly actor: { readonly username: string }; readonly ip: string };

export function settingsRoutes(parts: SettingsParts): ObjectsHandlers<'settings'> {
  const { settings, certificates, clock, policyAction } = parts;
  const change = async ({ actor }: Context, title: string, changes: Partial<Settings>) => {
    await settings.change(changes, title, actor.username);
    return {};
  };
  return {
    get: () => viewOf(settings.current(), { policyAction: policyAction(), encryption: parts.encryption.mode }),
    setSslTermination: ({ ssltermination: on }, context) =>
      change(context, `The data path speaks ${on ? 'HTTPS' : 'HTTP'}.`, { sslTermination: on }),
    setSslCertificate: async ({ ssl_pem }, { actor }) => {
      await certificates.install(ssl_pem, actor.username);
      return settings.apply();
    },
    getSslCertificate: async () => {
      const { own, current } = await certificates.info();
      return { ...shown('default', own, clock.now()), ...shown('current', current, clock.now()) };
    },
    setBillingCurrency: ({ billing_unit: unit }, context) =>
      change(context, `Prices are in ${unit}.`, { billingUnit: unit }),
    setTransferPrices: ({ upload_rate_per_gb: up, download_rate_per_gb: down }, context) =>
      change(context, 'The prices of data sent in and out were set.', {
        ...(up !== undefined && { uploadRatePerGb: Number(up) }),
        ...(down !== undefined && { downloadRatePerGb: Number(down) }),
      }),
    setApiIp: ({ api_ip }, context) => {
      if (isIP(api_ip) === 0) throw badParameter('api_ip', 'must be an IPv4 or IPv6 address');
      return change(context, `Links give the address ${api_ip}.`, { apiIp: api_ip });
    },
    setApiHostname: ({ api_hostname: name }, context) =>
      change(context, `Links give the name ${name}.`, { apiHostname: name.toLowerCase() }),
    setPublicApiHostname: ({ public_api_hostname: name }, context) =>
      change(context, `The public address has the name ${name}.`, { publicApiHostname: name.toLowerCase() }),
    ...encryptionRoutes(parts),
    setRegion: ({ region }, context) => change(context, `The region is ${region}.`, { region }),
    setTenantNameInUrl: ({ allow_tenant_name_in_url: on }, context) =>
      change(context, `Addresses ${on ? 'may' : 'may not'} name accounts.`, { tenantNameInUrl: on }),
    setVirtualHostedStyle: ({ vhs_state: on }, context) =>
      change(context, `Host names ${on ? 'may' : 'may not'} begin with a bucket.`, { virtualHostedStyle: on }),
    setApiErrorAlerts: ({ enabled, threshold }, context) =>
      change(context, 'The alerts for failed requests were set.', {
        ...(enabled !== undefined && { errorAlerts: enabled }),
        ...(threshold !== undefined && { errorThreshold: threshold }),
      }),
    setTokenExpiry: ({ token_expiry: minutes }, context) =>
      change(context, `New tokens live for ${minutes} minutes.`, { tokenMinutes: minutes }),
    setMtu: () => {
      throw fail('mtu_of_machine');
    },
    setPolicyExpansion: ({ expansion_percent: percent }, context) =>
      change(context, `New drives join a policy in steps of ${percent} %.`, { expansionPercent: percent }),
    setLoadBalancerMode: ({ mode }, context) => {
      if (mode !== 'dr') throw fail('load_balancer_mode');
      return change(context, 'Controllers answer their clients themselves.', {});
    },
    setDnsServers: ({ custom_name_servers: servers, dns_lookup_domain: domain }, context) =>
      change(context, 'The name servers were set.', {
        ...(servers !== undefined && { nameServers: servers.split(/, ?/).filter((server) => server !== '') }),
        ...(domain !== undefined && { nameServersDomain: domain === '' ? null : domain.toLowerCase() }),
      }),
    setRateLimit: ({ enabled, global_rate_limit: rate }, context) => {
      const before = settings.current().settings.rateLimit;
      if (enabled && rate === undefined && before === 0)
        throw badParameter('global_rate_limit', 'must be sent: no limit has been set yet');
      const title = enabled
        ? `Accounts may make ${rate ?? before} changes a second.`
        : 'Accounts have no common limit.';
      return change(context, title, { rateLimitEnabled: enabled, ...(rate !== undefined && { rateLimit: rate }) });
    },
  };
}

function encryptionRoutes({ encryption }: SettingsParts) {
  const asker = ({ actor, ip }: Context) => ({ actor: actor.username, ip });
  const done = async (work: Promise<void>) => {
    await work;
    return {};
  };
  return {
    setEncryptionPassword: ({ encryption_pwd }, context) =>
      done(encryption.setPassword(encryption_pwd, asker(context))),
    activateEncryption: (_, context) => done(encryption.activate(asker(context))),
    disableEncryption: (_, context) => done(encryption.disable(asker(context))),
    restoreEncryption: ({ encryption_pwd }, context) => done(encryption.restore(encryption_pwd, asker(context))),
  } satisfies ObjectsHandlers<'settings'>;
}

function shown<K extends 'default' | 'current'>(kind: K, { domain, endsAt }: CertificateInfo, now: number) {
  return {
    [`${kind}_ssl_domain`]: domain,
    [`${kind}_ssl_enddate`]: formatUtc(endsAt),
    [`${kind}_ssl_daysremaining`]: Math.floor((endsAt - now) / MS_A_DAY),
  } as Record<`${K}_ssl_domain` | `${K}_ssl_enddate`, string> & Record<`${K}_ssl_daysremaining`, number>;
}

import { endpoint, type Group } from '../endpoint.ts';
import { metricsTokenEndpoints } from '../metrics-token.ts';
import type { ErrorName } from '../errors.ts';
import { boolean, choice, integer, optional, type Params, price, secret, text, withDefault } from '../params.ts';
import { int, listOf, nullable, num, oneOf, record, str, utc, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { sessionSettingEndpoints } from '../sessions.ts';
import { adminOnly } from './access.ts';

const currencies = ['usd', 'gbp', 'eur', 'aud', 'krw', 'jpy', 'cny'] as const;

export const GlobalSettings = record('GlobalSettings', {
  name: str(),
  uuid: str(),
  display_name: str(),
  url: str(),
  auth_service_url: str(),
  version: str(),
  language: str(),
  multi_zone: yesNo(),
  floating_fe_ip: nullable(str('Address of the array for its clients')),
  floating_fe_ipv6: nullable(str()),
  floating_be_ip: nullable(str('Address of the array among its controllers')),
  publicip: nullable(str()),
  auto_scale: yesNo(),
  billing_unit: oneOf(...currencies),
  upload_rate_per_gb: num(),
  download_rate_per_gb: num(),
  api_ip: nullable(str()),
  api_hostname: nullable(str()),
  zswift_ratelimit_enabled: yesNo(),
  zswift_ratelimit: int('Account operations a second'),
  vhs_state: yesNo(),
  admin_access_enabled: yesNo(),
  allow_tenant_name_in_url: yesNo(),
  token_expiry: int('Minutes'),
  policy_action: nullable(str('Work on storage policies that is under way')),
  objs_upgrade: nullable(str('Upgrade that is under way')),
  ssl_termination: oneOf('on', 'off'),
  created_at: utc(),
  modified_at: utc(),
  expire_password: yesNo(),
  expire_password_after: int('Seconds'),
  password_history: int('Past passwords that cannot be chosen again'),
  public_api_hostname: nullable(str()),
  region: str('What S3 signatures name'),
  encryption: oneOf('none', 'off', 'on', 'locked'),
  expansion_percent: int('Share of new drives that joins a policy in one step, %'),
  load_balancer_mode: str(),
  custom_name_servers: listOf(str('IPv4 address')),
  dns_lookup_domain: nullable(str('Domain whose names they are asked for')),
  api_errors_enabled: yesNo(),
  api_errors_threshold: int('Failed requests in a minute that raise no event'),
  smtp_host: nullable(str('Server that mails go through; null where they are written to the outbox folder')),
  smtp_port: nullable(int()),
  smtp_secure: yesNo(),
  smtp_user: nullable(str()),
  smtp_from: nullable(str()),
});

export const SslCertificates = record('SslCertificates', {
  default_ssl_domain: nullable(str()),
  default_ssl_enddate: nullable(utc()),
  default_ssl_daysremaining: nullable(int()),
  current_ssl_domain: nullable(str()),
  current_ssl_enddate: nullable(utc()),
  current_ssl_daysremaining: nullable(int()),
});

const HOSTNAME = '^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$';
const OCTET = '(25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const IPV4 = `${OCTET}(\\.${OCTET}){3}`;

const hostname = (description: string) =>
  text(description, { max: 253, pattern: HOSTNAME, form: 'a host name', example: 'objects.example.org' });
const ratePerGb = (direction: string) => optional(price(`Price of a GB ${direction}, in the billing currency`));
const mtu = (network: string) =>
  optional(integer(`Largest packet on the ${network} network, bytes`, { min: 1280, max: 9216, example: 1500 }));
const encryptionPassword = secret('Password that the encryption key is derived from', {
  max: 256,
  example: 'Pick-Your-0wn',
});

/** One setting: it is stored and takes effect at once; the reply is a status alone. */
function setting<P extends Params>(path: string, summary: string, params: P, errors: readonly ErrorName[] = []) {
  return endpoint('POST', path, { summary, access: adminOnly, params, reply: response({}), errors });
}

export const settings = {
  get: endpoint('GET', '/settings_config', {
    summary: 'Show the global settings; the fields are beside the status',
    access: adminOnly,
    reply: response(GlobalSettings.properties),
  }),
  setSslTermination: setting('/objs/settings/ssl_termination', 'Have the array speak HTTPS, or HTTP alone', {
    ssltermination: boolean('On for HTTPS'),
  }),
  setSslCertificate: setting('/objs/settings/set_ssl_pem', 'Install a certificate with its private key', {
    ssl_pem: secret('PEM text: the private key, the certificate and those that vouch for it', {
      max: 65_536,
      example: '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n',
    }),
  }),
  getSslCertificate: endpoint('GET', '/objs/settings/get_ssl_cert_info', {
    summary: 'Show whom the default and the installed certificate are for, and when they end',
    access: adminOnly,
    reply: response(SslCertificates.properties),
  }),
  setBillingCurrency: setting('/objs/settings/billing_currency', 'Set the currency of prices and reports', {
    billing_unit: choice(currencies, 'Currency'),
  }),
  setTransferPrices: setting('/objs/settings/data_transfer_pricing', 'Set the prices of data sent in and out', {
    upload_rate_per_gb: ratePerGb('sent in'),
    download_rate_per_gb: ratePerGb('sent out'),
  }),
  setApiIp: setting('/objs/settings/api_ip', 'Set the address that replies and links give for the array', {
    api_ip: text('IPv4 or IPv6 address', { max: 45, example: '192.0.2.10' }),
  }),
  setApiHostname: setting('/objs/settings/api_hostname', 'Set the host name that links give for the array', {
    api_hostname: hostname('Host name that clients reach the array by'),
  }),
  setPublicApiHostname: setting(
    '/objs/settings/public_api_hostname',
    'Set the host name of the array on its public address',
    { public_api_hostname: hostname('Host name that clients reach the public address by') },
  ),
  setEncryptionPassword: setting(
    '/objs/settings/encryption',
    'Set the encryption password',
    { encryption_pwd: encryptionPassword },
    ['encryption_locked', 'objs_state_conflict'],
  ),
  activateEncryption: setting('/objs/settings/activate_encryption', 'Encrypt what is written from now on', {}, [
    'encryption_locked',
    'objs_state_conflict',
  ]),
  disableEncryption: setting('/objs/settings/disable_encryption', 'Stop encrypting what is written', {}, [
    'encryption_locked',
    'objs_state_conflict',
  ]),
  restoreEncryption: setting(
    '/objs/settings/restore_encryption',
    'Give the encryption password again, so that a locked array reads its data',
    { encryption_pwd: encryptionPassword },
    ['objs_state_conflict'],
  ),
  setRegion: setting('/objs/settings/change_region', 'Set the region that S3 signatures name', {
    region: text('Region', {
      max: 64,
      pattern: '^[A-Za-z0-9-]+$',
      form: 'letters, digits and dashes',
      example: 'us-east-1',
    }),
  }),
  setTenantNameInUrl: setting(
    '/objs/settings/tenant_name_in_url',
    'Take the name of an account in addresses where its id stands',
    { allow_tenant_name_in_url: boolean('Whether names are taken') },
  ),
  setVirtualHostedStyle: setting(
    '/objs/settings/vhs_state',
    'Take the name of a container as the first part of the host name',
    { vhs_state: boolean('Whether it is taken') },
  ),
  setApiErrorAlerts: setting(
    '/objs/settings/api_errors',
    'Raise an event when many requests of S3 and Swift fail by a fault of the service (5xx) within a minute',
    {
      enabled: optional(boolean('Whether to raise it')),
      threshold: optional(
        integer(
          'Such requests in a minute that raise none; one more does. Refusals by a limit on changes do not count',
          { max: 1_000_000, example: 1 },
        ),
      ),
    },
  ),
  setTokenExpiry: setting('/objs/settings/token_expiry', 'Set how long tokens of the data path live', {
    token_expiry: integer('Minutes', { min: 1, max: 525_600, example: 1440 }),
  }),
  setMtu: setting(
    '/settings/set_mtu',
    'Set the packet size of the networks',
    {
      fe_mtu: mtu('client'),
      public_mtu: mtu('public'),
      force: withDefault(boolean('Whether to apply it though open connections may break'), false),
    },
    ['objs_state_conflict'],
  ),
  setPolicyExpansion: setting(
    '/objs/settings/set_gradual_policy_expansion_percentage',
    'Set in what steps new drives join a storage policy',
    { expansion_percent: integer('Share of the new drives that a step adds, %', { min: 1, max: 100, example: 25 }) },
  ),
  setLoadBalancerMode: setting(
    '/objs/settings/load_balancer_mode',
    'Set how answers travel back to clients',
    { mode: choice(['dr', 'nat'], 'From the controller itself (dr, the default), or through the load balancer (nat)') },
    ['objs_state_conflict'],
  ),
  setDnsServers: setting('/objs/settings/custom_dns_servers', 'Set name servers for a private domain', {
    custom_name_servers: optional(
      text('IPv4 addresses of the name servers, separated by commas; empty clears them', {
        min: 0,
        max: 256,
        pattern: `^(${IPV4}(, ?${IPV4})*)?$`,
        form: 'IPv4 addresses separated by commas, or empty',
        example: '192.0.2.53,192.0.2.54',
      }),
    ),
    dns_lookup_domain: optional(
      text('Domain whose names they are asked for; empty clears it', { min: 0, max: 253, example: 'corp.example.org' }),
    ),
  }),
  setRateLimit: setting('/objs/settings/global_rate_limit', 'Limit how fast the data of each account may be changed', {
    enabled: boolean('Whether the limit holds'),
    global_rate_limit: optional(
      integer('PUT, POST, DELETE and COPY requests a second, where an account has no limit of its own', {
        min: 1,
        max: 1_000_000,
        example: 100,
      }),
    ),
  }),
  setPasswordRules: setting('/objs/settings/password_rules', 'Set how long passwords live and which may come back', {
    expire_password: optional(boolean('Whether passwords expire')),
    expire_password_after: optional(
      integer('Seconds that a password lives', { min: 3600, max: 315_360_000, example: 7_776_000 }),
    ),
    password_history: optional(integer('Past passwords that cannot be chosen again', { max: 24, example: 5 })),
  }),
  setMailServer: setting(
    '/objs/settings/mail_server',
    'Set the server that mails go through; without one they are written to the outbox folder',
    {
      smtp_host: text('Name or address of the server; empty for none', {
        min: 0,
        max: 253,
        example: 'mail.example.org',
      }),
      smtp_port: withDefault(integer('Port of the server', { min: 1, max: 65_535 }), 25),
      smtp_secure: withDefault(
        boolean('TLS from the first byte; without, it is used where the server offers it'),
        false,
      ),
      smtp_user: optional(text('User at the server', { max: 254, example: 'array' })),
      smtp_password: optional(secret('Password at the server', { max: 256, example: 'Pick-Your-0wn' })),
      smtp_from: optional(text('Address that mails come from', { max: 254, example: 'array@example.org' })),
    },
    ['address_refused'],
  ),
  ...metricsTokenEndpoints(adminOnly, response),
  ...sessionSettingEndpoints(adminOnly, response),
} satisfies Group;

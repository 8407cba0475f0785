import { anyone, endpoint, type Group } from '../endpoint.ts';
import { boolean, integer, name, optional, page, recordNumber, secret, text, withDefault } from '../params.ts';
import { bool, int, listOf, nullable, record, shownOnce, str } from '../records.ts';
import { envelope, success } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';

const AppEngine = record('AppEngine', {
  default: str("'true' for the one taken when none is named"),
  memory_mb: str(),
  name: str(),
  price: str('USD an hour'),
  specs: str(),
  vcpus: str(),
});

const OfferedDriveType = record('OfferedDriveType', {
  hourly_price_usd: str(),
  capacity_gb: int(),
  name: str(),
  key: str('What `drives` of an order names'),
  id: str(),
});

const EngineType = record('EngineType', {
  id: str(),
  hourly_price_usd: str(),
  name: str(),
  max_drives: int(),
  max_cache_gb: int(),
  key: str('What `engine` of an order names'),
  encryption_hourly_price_usd: str(),
  specs: str(),
  cache: record('EngineCache', {
    base_cache_gb: int(),
    max_flash_cache_gb: int(),
    recommended_flash_cache_gb: int(),
  }),
});

export const Cloud = record('Cloud', {
  id: str(),
  name: str(),
  uuid: str(),
  enabled: str("'true' or 'false'"),
  app_engines: listOf(AppEngine),
  nova_url: nullable(str()),
  auth_url: nullable(str()),
  keystone_url: nullable(str()),
  glance_url: nullable(str()),
  drive_types: listOf(OfferedDriveType),
  engine_types: listOf(EngineType),
  fibre_channel: record('FibreChannel', { enabled: bool() }),
  flash_cache: record('FlashCache', { enabled: bool(), increment_gb: int() }),
  minimum_drives: int(),
  supports_app_engines: bool(),
  objs: record('ObjectStorageSupport', { enabled: bool() }),
  zones: listOf(record('Zone', { allocation_zone_disp_name: str(), allocation_zone_name: str() })),
  array_zone_group_storage_policy_types: record('StoragePolicyTypes', {
    array_zone_group_storage_policy_type: str(
      'JSON text: id, name, replicas, data_fragments and parity_fragments of each',
    ),
  }),
});

export const DriveType = record('DriveType', {
  id: int(),
  name: str(),
  capacity_gb: int(),
  display_capacity_gb: int(),
  hourly_price_usd: nullable(str()),
  key: str(),
  enabled: bool(),
  cache: bool('Made for cache rather than for data'),
  order: nullable(int('Position in lists')),
});

const cloudId = recordNumber('The cloud');
const driveTypeId = recordNumber('The drive type');

const adopt = optional(boolean('Move it to this portal although it belongs to another one'));

const registration = {
  name: name('Name shown to users', { example: 'local' }),
  enabled: optional(boolean('Whether users see it; as it was, or open, when left out')),
  ip: text('Where its `granary cloud` listens: host or host:port', { max: 255, example: '127.0.0.1:7401' }),
  admin_user: name("The cloud's administrator", { example: 'cloud' }),
  admin_key: secret("The cloud's administrator key", { max: 255, example: 'key' }),
  fingerprint: optional(
    text("SHA-256 fingerprint of the cloud's certificate authority, as `granary cloud` prints it", {
      max: 128,
      pattern: '^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$',
      form: '64 hexadecimal digits, with or without colons',
    }),
  ),
  adopt,
};

const WEEK_MINUTES = 7 * 24 * 60;

const joinCode = {
  name: name('Name the cloud gets; with that of a registered cloud, this one can join again', { example: 'second' }),
  valid_minutes: withDefault(integer('How long the code can be used', { min: 1, max: WEEK_MINUTES }), 60),
  portal: optional(
    text('Where the other machine reaches this portal: host or host:port (default: the address it listens on)', {
      max: 255,
      example: '192.0.2.1:7400',
    }),
  ),
  adopt,
};

const joining = {
  code: secret('The secret of the join code', { max: 64, example: 'c2VjcmV0IG9mIGEgY29kZQ' }),
  certificate: text('Certificate that the cloud signed itself, in PEM: the key in it is to be signed', { max: 4096 }),
  host: optional(
    text('Where the portal reaches the cloud (default: the address the request comes from)', { max: 253 }),
  ),
  port: integer('Port of the cloud', { min: 1, max: 65_535, example: 7401 }),
  admin_user: name("The cloud's administrator", { example: 'cloud' }),
  admin_key: secret("The cloud's administrator key", { max: 255, example: 'key' }),
};

const cloudErrors = [
  'not_supported',
  'cloud_unreachable',
  'cloud_refused',
  'cloud_untrusted',
  'cloud_in_the_clear',
  'address_refused',
] as const;

const registered = success({ data: record('CloudId', { cloud_id: int() }) });

export const clouds = {
  list: endpoint('GET', '/clouds', {
    summary: 'List the clouds with their drive types, engine types, zones and prices',
    access: signedIn,
    params: page,
    reply: success({ data: listOf(Cloud) }),
  }),
  get: endpoint('GET', '/clouds/{id}', {
    summary: 'Show one cloud',
    access: signedIn,
    params: { id: cloudId },
    reply: success({ data: Cloud }),
    errors: ['not_found'],
  }),
  create: endpoint('POST', '/clouds', {
    summary: 'Register a cloud: its inventory is read from the cloud process at the address',
    access: adminOnly,
    params: registration,
    reply: registered,
    errors: ['name_taken', 'in_use', ...cloudErrors],
  }),
  update: endpoint('POST', '/clouds/{id}', {
    summary: 'Change a cloud and read its inventory again',
    access: adminOnly,
    params: { id: cloudId, ...registration },
    reply: registered,
    errors: ['not_found', 'name_taken', 'in_use', ...cloudErrors],
  }),
  adopt: endpoint('POST', '/clouds/{id}/adopt', {
    summary: 'Move a cloud to this portal: it refuses the portal, or the copy of it, that it belonged to',
    access: adminOnly,
    params: { id: cloudId },
    reply: success({}),
    errors: ['not_found'],
  }),
  recoverArrays: endpoint('POST', '/clouds/{id}/recover_arrays', {
    summary: 'Take arrays on record that a cloud hosts and this portal does not know, as after a restore',
    access: adminOnly,
    params: { id: cloudId },
    reply: success({
      data: listOf(
        record('RecoveredArray', { id: int(), name: str(), owner: str(), note: str('What did not come back with it') }),
      ),
    }),
    errors: ['not_found'],
  }),
  joinCode: endpoint('POST', '/clouds/join_code', {
    summary: 'Get a code by which a cloud on another machine joins, once: `granary cloud --join CODE` there',
    access: adminOnly,
    params: joinCode,
    reply: success({
      data: record('JoinCode', {
        name: str(),
        code: shownOnce('join code', 'Shown this once'),
        expires_at: str('In UTC'),
      }),
    }),
    errors: ['not_supported'],
  }),
  join: endpoint('POST', '/clouds/join', {
    summary: 'Join by a code: register this cloud and have its key signed, as `granary cloud --join` does',
    access: anyone,
    params: joining,
    reply: success({
      data: record('JoinedCloud', {
        cloud_id: int(),
        name: str(),
        certificate: str("The issuer's certificate and the authority's, in PEM"),
      }),
    }),
    errors: ['join_refused', 'too_many_attempts', 'in_use', ...cloudErrors],
  }),
  authority: endpoint('GET', '/clouds/authority', {
    summary:
      "The certificate of this installation's authority, for everyone: compare its fingerprint before you trust it",
    access: anyone,
    reply: success({ data: record('Authority', { certificate: str('In PEM'), fingerprint: str('SHA-256') }) }),
    errors: ['not_supported'],
  }),
  delete: endpoint('DELETE', '/clouds/{id}', {
    summary: 'Forget a cloud that hosts no array and has no provider',
    access: adminOnly,
    params: { id: cloudId },
    reply: success({}),
    errors: ['not_found', 'in_use'],
  }),
} satisfies Group;

export const driveTypes = {
  list: endpoint('GET', '/clouds/{id}/drive_types', {
    summary: "List a cloud's drive types",
    access: signedIn,
    params: { id: cloudId, ...page },
    reply: success({ drive_types: listOf(DriveType) }),
    errors: ['not_found'],
  }),
  get: endpoint('GET', '/clouds/{cloud_id}/drive_types/{drive_type_id}', {
    summary: 'Show one drive type',
    access: signedIn,
    params: { cloud_id: cloudId, drive_type_id: driveTypeId },
    reply: success({ drive_type: DriveType }),
    errors: ['not_found'],
  }),
  update: endpoint('POST', '/clouds/{cloud_id}/drive_types/{drive_type_id}', {
    summary: 'Change how a drive type is offered',
    access: adminOnly,
    params: {
      cloud_id: cloudId,
      drive_type_id: driveTypeId,
      name: optional(name('Name shown to users')),
      display_capacity: optional(integer('Capacity shown to users, GB', { min: 1, max: 1_000_000 })),
      enabled: optional(boolean('Whether it can be ordered')),
    },
    reply: envelope({ status: 201 }, { data: DriveType, message: str() }),
    errors: ['not_found'],
  }),
} satisfies Group;

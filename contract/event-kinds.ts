/** Logins of initiators: they come by the thousand, and are left out unless they are asked for. */
export const LOGIN_KIND = 'login';
/** In place of a kind: all there are. */
export const ALL_KINDS = 'all';

/** What events are about, service by service. */
export const portalEventKinds = [
  'array',
  'cloud',
  'compute',
  'provider',
  'provider_group',
  'request',
  'settings',
  'user',
  'virtual_network',
  'vlan',
  'webhook',
] as const;

export const arrayEventKinds = [
  'array',
  'controller',
  'drive',
  'engine',
  'file_category',
  'lifecycle_policy',
  LOGIN_KIND,
  'mirror_job',
  'object_storage_destination',
  'peer',
  'pool',
  'raid_group',
  'remote_array',
  'server',
  'settings',
  'snapshot_policy',
  'snapshot_set',
  'user',
  'volume',
  'webhook',
] as const;

export const objectsEventKinds = [
  'account',
  'array',
  'bucket',
  'controller',
  'drive',
  'expiry',
  'object',
  'policy',
  'remote_endpoint',
  'request',
  'requests',
  'settings',
  'user',
  'webhook',
] as const;

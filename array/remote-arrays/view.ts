import type { RemoteArray, RemotePool } from './remote-array.ts';

export function viewOf(row: RemoteArray, usualPort: number) {
  return {
    name: row.name,
    remote_name: row.remoteName,
    remote_display_name: row.displayName,
    provider: row.provider,
    software_version: row.softwareVersion,
    uuid: row.uuid,
    ip: row.port === usualPort ? row.host : `${row.host.includes(':') ? `[${row.host}]` : row.host}:${row.port}`,
    public: row.interface === 'public' ? ('YES' as const) : ('NO' as const),
    vni: row.interface === 'vni0' ? 'vni0' : null,
  };
}

export function viewOfPool(row: RemotePool) {
  return {
    name: row.name,
    remote_name: row.remoteName,
    display_name: row.displayName,
    capacity: row.capacityGb,
    available_capacity: row.availableGb,
  };
}

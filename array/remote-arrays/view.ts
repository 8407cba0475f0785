import type { RemoteArrayRow, RemotePoolRow } from './repository.ts';

export function viewOf(row: RemoteArrayRow, usualPort: number) {
  return {
    name: row.name,
    remote_name: row.remote_name,
    remote_display_name: row.display_name,
    provider: row.provider,
    software_version: row.software_version,
    uuid: row.uuid,
    ip: row.port === usualPort ? row.host : `${row.host.includes(':') ? `[${row.host}]` : row.host}:${row.port}`,
    public: row.interface === 'public' ? ('YES' as const) : ('NO' as const),
    vni: row.interface === 'vni0' ? 'vni0' : null,
  };
}

export function viewOfPool(row: RemotePoolRow) {
  return {
    name: row.name,
    remote_name: row.remote_name,
    display_name: row.display_name,
    capacity: row.capacity_gb,
    available_capacity: row.available_gb,
  };
}

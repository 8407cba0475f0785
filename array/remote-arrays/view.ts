import type { RemoteArray, RemotePool } from './remote-array.ts';

export function viewOf(remoteArray: RemoteArray, usualPort: number) {
  return {
    name: remoteArray.name,
    remote_name: remoteArray.remoteName,
    remote_display_name: remoteArray.displayName,
    provider: remoteArray.provider,
    software_version: remoteArray.softwareVersion,
    uuid: remoteArray.uuid,
    ip:
      remoteArray.port === usualPort
        ? remoteArray.host
        : `${remoteArray.host.includes(':') ? `[${remoteArray.host}]` : remoteArray.host}:${remoteArray.port}`,
    public: remoteArray.interface === 'public' ? ('YES' as const) : ('NO' as const),
    vni: remoteArray.interface === 'vni0' ? 'vni0' : null,
  };
}

export function viewOfPool(remotePool: RemotePool) {
  return {
    name: remotePool.name,
    remote_name: remotePool.remoteName,
    display_name: remotePool.displayName,
    capacity: remotePool.capacityGb,
    available_capacity: remotePool.availableGb,
  };
}

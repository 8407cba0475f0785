import type { Api } from '../endpoint.ts';
import { auditLogs } from './audit.ts';
import { changes } from './changes.ts';
import { consistencyGroups, snapshotSets } from './consistency-groups.ts';
import { controllers } from './controllers.ts';
import { creators } from './creators.ts';
import { drives } from './drives.ts';
import { fileHistory } from './file-history.ts';
import { fileCategories, lifecyclePolicies } from './file-lifecycle.ts';
import { forecasts } from './forecasts.ts';
import { messages } from './messages.ts';
import { migrationJobs } from './migration-jobs.ts';
import { mirrorJobs } from './mirror-jobs.ts';
import { nasGroups, nasUsers } from './nas.ts';
import { objectStorageDestinations } from './object-storage-destinations.ts';
import { pools } from './pools.ts';
import { quotaProjects, quotas } from './quotas.ts';
import { raidGroups } from './raid-groups.ts';
import { remoteArrays } from './remote-arrays.ts';
import { servers } from './servers.ts';
import { search } from './search.ts';
import { sessions } from './sessions.ts';
import { settings } from './settings.ts';
import { snapshotPolicies } from './snapshot-policies.ts';
import { snapshots } from './snapshots.ts';
import { poolTags, serverTags, volumeTags } from './tags.ts';
import { users } from './users.ts';
import { volumes } from './volumes.ts';
import { webhooks } from './webhooks.ts';

export { arrayEventKinds } from '../event-kinds.ts';
export { type ArrayRole, arrayRoles, type CreatedKind } from './access.ts';
export { Controller, ControllerVirtualNetwork } from './controllers.ts';
export { Drive } from './drives.ts';
export { FileRestore } from './file-history.ts';
export { FileCategory, LifecyclePolicy, LifecycleRule } from './file-lifecycle.ts';
export { Message } from './messages.ts';
export { MigrationJob } from './migration-jobs.ts';
export { MirrorJob } from './mirror-jobs.ts';
export { NasGroup, NasUser } from './nas.ts';
export { ObjectStorageDestination } from './object-storage-destinations.ts';
export { CachePoint, ControllerPoint, IoPoint } from './performance.ts';
export { peerApi } from './peers.ts';
export { Pool } from './pools.ts';
export { Quota, QuotaProject, type QuotaChange } from './quotas.ts';
export { RaidGroup } from './raid-groups.ts';
export { RemoteArray, RemotePool } from './remote-arrays.ts';
export { Server, ServerSession, Session, VolumeServer } from './servers.ts';
export { Settings } from './settings.ts';
export { SnapshotPolicy } from './snapshot-policies.ts';
export { Snapshot } from './snapshots.ts';
export { Tag } from './tags.ts';
export { User, UserWithKey } from './users.ts';
export { FreeVolume, Volume } from './volume-records.ts';

export const arrayApi = {
  name: 'array',
  title: 'Granary array',
  description:
    'Run one storage array: build pools from its drives, cut volumes and shares from them, attach those to servers, and protect the data with snapshots, clones and mirrors.',
  dialect: 'array',
  asyncStatus: 1073751835,
  groups: {
    sessions,
    users,
    drives,
    raidGroups,
    pools,
    poolTags,
    volumes,
    volumeTags,
    snapshots,
    snapshotPolicies,
    snapshotSets,
    consistencyGroups,
    migrationJobs,
    mirrorJobs,
    remoteArrays,
    servers,
    serverTags,
    quotas,
    quotaProjects,
    nasUsers,
    nasGroups,
    fileHistory,
    fileCategories,
    lifecyclePolicies,
    objectStorageDestinations,
    auditLogs,
    controllers,
    messages,
    forecasts,
    search,
    creators,
    changes,
    settings,
    webhooks,
  },
} as const satisfies Api;

import type { arrayApi, arrayEventKinds } from '@granary/contract/array';
import type { Concerns } from '@granary/kernel';

type Group = keyof (typeof arrayApi)['groups'];
/** Subjects of jobs that are no kind of events. */
type JobKind = 'lifecycle' | 'migration' | 'quotas' | 'restore' | 'snapshots';
type Kind = (typeof arrayEventKinds)[number] | JobKind;

/** Which groups' records events and jobs are about, and which change with which. */
export const concerns: Concerns<Kind, Group> = {
  kinds: {
    array: ['controllers', 'drives', 'sessions', 'settings'],
    controller: ['controllers'],
    drive: ['drives'],
    engine: ['controllers', 'drives', 'raidGroups', 'pools', 'volumes'],
    file_category: ['fileCategories'],
    lifecycle: ['lifecyclePolicies', 'volumes'],
    lifecycle_policy: ['lifecyclePolicies'],
    login: ['servers'],
    migration: ['migrationJobs', 'volumes'],
    mirror_job: ['mirrorJobs'],
    object_storage_destination: ['objectStorageDestinations'],
    peer: ['mirrorJobs', 'remoteArrays'],
    pool: ['pools'],
    quotas: ['quotas', 'quotaProjects'],
    raid_group: ['raidGroups'],
    remote_array: ['remoteArrays'],
    restore: ['fileHistory', 'volumes'],
    server: ['servers'],
    settings: ['settings'],
    snapshot_policy: ['snapshotPolicies'],
    snapshot_set: ['snapshotSets'],
    snapshots: ['snapshots'],
    user: ['users'],
    volume: ['volumes', 'snapshots'],
    webhook: ['webhooks'],
  },
  related: {
    consistencyGroups: ['migrationJobs', 'mirrorJobs', 'snapshots', 'volumes'],
    drives: ['raidGroups'],
    migrationJobs: ['volumes'],
    poolTags: ['pools'],
    pools: ['raidGroups'],
    quotaProjects: ['quotas'],
    raidGroups: ['drives', 'pools'],
    serverTags: ['servers'],
    servers: ['volumes'],
    settings: ['controllers'],
    snapshotPolicies: ['volumes'],
    snapshotSets: ['snapshots'],
    snapshots: ['volumes'],
    volumeTags: ['volumes'],
    volumes: ['pools', 'servers', 'snapshots'],
  },
  events: 'messages',
};

import type { peerApi } from '@granary/contract/array';
import {
  ChangeDetector,
  ChangeFeed,
  changeRoutes,
  metricsTokenRoutes,
  sessionRoutes,
  Sessions,
  sessionSettingRoutes,
  webhookRoutes,
  WebhookService,
  type Handlers,
} from '@granary/kernel';
import { auditRoutes } from './audit/routes.ts';
import { AuditLogService } from './audit/service.ts';
import { concerns } from './changes/concerns.ts';
import { shownOf } from './changes/shown.ts';
import { consistencyGroupRoutes } from './consistency-groups/routes.ts';
import { CloneService } from './consistency-groups/service.ts';
import { fileCategoryRoutes } from './file-lifecycle/categories/routes.ts';
import { lifecyclePolicyRoutes } from './file-lifecycle/policies/routes.ts';
import { FileLifecycleService } from './file-lifecycle/service.ts';
import type { Heartbeat } from './controllers/heartbeat.ts';
import { creatorRoutes } from './creators/routes.ts';
import { CreatorService } from './creators/service.ts';
import { controllerRoutes } from './controllers/routes.ts';
import { ControllerService } from './controllers/service.ts';
import { DelegatedKeyService } from './delegated-keys/service.ts';
import { DriveOutages } from './drives/outages.ts';
import { DriveReplacement } from './drives/replacement.ts';
import { driveRoutes } from './drives/routes.ts';
import { ArrayDriveService } from './drives/service.ts';
import { DriveShredding } from './drives/shredding.ts';
import { fileHistoryRoutes, fileHistoryVolumeRoutes } from './file-history/routes.ts';
import { FileHistoryService } from './file-history/service.ts';
import { forecastRoutes } from './forecasts/routes.ts';
import { ForecastService } from './forecasts/service.ts';
import { FirstPools } from './first-pools/service.ts';
import { arrayMailer } from './messages/mailer.ts';
import { messageRoutes } from './messages/routes.ts';
import { migrationRoutes } from './migration-jobs/routes.ts';
import { MigrationService } from './migration-jobs/service.ts';
import { destinationRoutes } from './mirror-jobs/peer-routes.ts';
import { countDestinationsOf } from './mirror-jobs/repository.ts';
import { mirrorGroupRoutes, mirrorRoutes } from './mirror-jobs/routes.ts';
import { MirrorService } from './mirror-jobs/service.ts';
import { nasGroupRoutes, nasUserRoutes } from './nas/routes.ts';
import { NasService } from './nas/service.ts';
import { controllerPerformanceRoutes } from './performance/routes.ts';
import { PerformanceService } from './performance/service.ts';
import { poolContentRoutes } from './pool-contents/routes.ts';
import { PoolContents } from './pool-contents/service.ts';
import { objectStorageRoutes } from './object-storage-destinations/routes.ts';
import { ObjectStorageDestinationService } from './object-storage-destinations/service.ts';
import { peerRoutes } from './peers/routes.ts';
import { PeerService, type PeerActor } from './peers/service.ts';
import { poolRoutes } from './pools/routes.ts';
import { PoolService } from './pools/service.ts';
import { RaidGroupBuilding } from './raid-groups/building.ts';
import { RaidGroupMembership } from './raid-groups/membership.ts';
import { QuotaProjectService } from './quotas/projects.ts';
import { quotaProjectRoutes, quotaRoutes } from './quotas/routes.ts';
import { QuotaService } from './quotas/service.ts';
import { raidGroupRoutes } from './raid-groups/routes.ts';
import { RaidGroupScrubbing } from './raid-groups/scrubbing.ts';
import { RaidGroupService } from './raid-groups/service.ts';
import { HotSpares } from './raid-groups/spares.ts';
import { remoteArrayRoutes } from './remote-arrays/routes.ts';
import { RemoteArrayService } from './remote-arrays/service.ts';
import {
  findDriveGroup,
  mirrorsToArray,
  restoreDependents,
  shareReaders,
  volumeDependents,
  volumeKeys,
  volumesInPool,
} from './relations.ts';
import { searchRoutes } from './search/routes.ts';
import { SearchService } from './search/service.ts';
import { countWwpns, listServers, renameArrayUser } from './servers/repository.ts';
import { checkArrayChap } from './servers/rules.ts';
import { serverRoutes } from './servers/routes.ts';
import { ServerService } from './servers/service.ts';
import { sessionPeople } from './sessions/people.ts';
import { encryptionRoutes } from './settings/encryption-routes.ts';
import { VolumeEncryption } from './settings/encryption.ts';
import { settingsRoutes } from './settings/routes.ts';
import { SettingsService } from './settings/service.ts';
import { ShareService } from './shares/service.ts';
import { snapshotPolicyRoutes } from './snapshot-policies/routes.ts';
import { SnapshotPolicyService } from './snapshot-policies/service.ts';
import { snapshotSetRoutes } from './snapshot-sets/routes.ts';
import { SnapshotSetService } from './snapshot-sets/service.ts';
import { SnapshotRestore } from './snapshots/restore.ts';
import { SnapshotListing } from './snapshots/listing.ts';
import { restoreRoutes, snapshotRoutes } from './snapshots/routes.ts';
import { SnapshotService } from './snapshots/service.ts';
import { SummaryService } from './summaries/service.ts';
import { tagRoutes } from './tags/routes.ts';
import { TagService } from './tags/service.ts';
import type { ArrayTools } from './tools.ts';
import { userRoutes } from './users/routes.ts';
import { ArrayUserService } from './users/service.ts';
import { volumeRoutes } from './volumes/routes.ts';
import { VolumeService } from './volumes/service.ts';

/** The whole array, put together: who needs whom stands here and nowhere else. */
export function createServices(tools: ArrayTools & { readonly heartbeat: Heartbeat }) {
  const { store, events, jobs } = tools;
  // Every user may list events.
  const changes = new ChangeFeed({ events, jobs, concerns, mayListEvents: () => true });
  const detector = new ChangeDetector(changes);
  tools.readings.onReading((readings) => detector.compare(() => store.read((db) => shownOf(db, readings))));
  const sessions = new Sessions(tools, () => `array_${tools.configuration().internalName}`);
  sessions.onEnded((id) => changes.endSession(id));
  sessions.onRightsChanged((user, except) => changes.endUser(user, except));
  const users = new ArrayUserService(tools, sessions);
  const settings = new SettingsService(tools);
  const encryption = new VolumeEncryption(tools, volumeKeys);
  const mailer = arrayMailer(tools, settings);
  const webhooks = new WebhookService({
    ...tools,
    source: () => {
      const { internalName: id, displayName: name } = tools.configuration();
      return { service: 'array', name, id };
    },
  });
  const performance = new PerformanceService(tools, settings);
  const drives = new ArrayDriveService(tools, performance);
  const shredding = new DriveShredding(tools, drives);
  const replacing = new DriveReplacement(tools, drives, findDriveGroup);
  const outages = new DriveOutages(tools, drives, findDriveGroup);
  const raidGroups = new RaidGroupService(tools, drives, performance);
  const scrubbing = new RaidGroupScrubbing(tools, raidGroups);
  const building = new RaidGroupBuilding(tools, { drives, groups: raidGroups, scrubbing, performance });
  const spares = new HotSpares(tools, drives, raidGroups);
  const membership = new RaidGroupMembership(tools, drives);
  const pools = new PoolService(tools, { raidGroups, performance, volumes: volumesInPool });
  const firstPools = new FirstPools(tools, { drives, building, groups: raidGroups, pools });
  const tags = new TagService(tools);
  const shares = new ShareService(tools, shareReaders);
  const volumes = new VolumeService(tools, {
    pools,
    encryption,
    performance,
    shares,
    dependents: volumeDependents,
    recycleBin: () => settings.recycleBin(),
  });
  const poolContents = new PoolContents(tools, { pools, raidGroups, volumes, performance });
  const servers = new ServerService(tools, performance, shares);
  const controllers = new ControllerService(tools, {
    heartbeat: tools.heartbeat,
    encryption,
    settings,
    servers: {
      sessionsOf: (controller) => servers.sessions.ofController(controller),
      countWwpns,
      checkArrayChap: (db, chap) => checkArrayChap(listServers(db, 0, 0), chap, tools.vault),
      renameArrayUser,
      resendAll: () => servers.resendAll(),
    },
  });
  const snapshots = new SnapshotService(tools, volumes, pools);
  const restores = new SnapshotRestore(tools, volumes, snapshots, restoreDependents);
  const snapshotPolicies = new SnapshotPolicyService(tools, volumes, snapshots);
  const snapshotSets = new SnapshotSetService(tools, {
    volumes,
    snapshots,
    suspendSeconds: () => settings.current().suspendSeconds,
  });
  const creators = new CreatorService(tools, (set) => snapshotSets.suspendedVolumes(set));
  const migrations = new MigrationService(tools, { volumes, pools, atOnceMax: () => settings.current().migrationsMax });
  const snapshotListing = new SnapshotListing(snapshots, () => migrations.workingSnapshots());
  const clones = new CloneService(volumes, snapshots);
  const remoteArrays = new RemoteArrayService(tools, { encryption, mirrors: mirrorsToArray });
  const mirrors = new MirrorService(tools, { pools, volumes, snapshots, snapshotPolicies, remoteArrays });
  const objectStorage = new ObjectStorageDestinationService(tools);
  const nas = new NasService(tools);
  const quotas = new QuotaService(tools, { volumes, nas });
  const fileHistory = new FileHistoryService(tools, { volumes, snapshots });
  const quotaProjects = new QuotaProjectService(tools, volumes);
  const fileLifecycle = new FileLifecycleService(tools, {
    snapshots,
    share: (name) => volumes.usableShare(name),
    accounts: { uid: (name) => nas.numberOf('user', name), gid: (name) => nas.numberOf('group', name) },
  });
  volumes.followLifecycle(fileLifecycle.scans);
  const peers = new PeerService(tools, { users, self: () => remoteArrays.self, countMirrors: countDestinationsOf });
  const delegatedKeys = new DelegatedKeyService(tools, users);
  const forecasts = new ForecastService(tools);
  const search = new SearchService(tools, { pools, raidGroups, drives, mirrors, users });
  const summaries = new SummaryService(tools, { drives, raidGroups, pools, mirrors, forecasts });
  pools.onEmergency((pool) => snapshots.deleteOldest(pool));
  const handlers = {
    sessions: sessionRoutes({
      ...tools,
      sessions,
      people: sessionPeople(tools, users),
      service: () => ({ locked_down: tools.configuration().lockedDown }),
    }),
    users: userRoutes(users),
    settings: {
      ...settingsRoutes(settings, encryption),
      ...encryptionRoutes(encryption),
      ...metricsTokenRoutes(tools),
      ...sessionSettingRoutes(sessions),
    },
    controllers: { ...controllerRoutes(controllers), ...controllerPerformanceRoutes(performance) },
    drives: driveRoutes({ drives, shredding, replacing, outages }),
    raidGroups: raidGroupRoutes({ groups: raidGroups, building, scrubbing, spares }),
    pools: { ...poolRoutes(pools, jobs), ...poolContentRoutes(poolContents) },
    poolTags: tagRoutes(tags, { kind: 'pool', check: (name) => pools.get(name) }),
    volumeTags: tagRoutes(tags, { kind: 'volume', check: (name) => volumes.get(name) }),
    serverTags: tagRoutes(tags, { kind: 'server', check: (name) => servers.get(name) }),
    volumes: {
      ...volumeRoutes(volumes, { jobs: tools.jobs, servers, snapshotPolicies, performance }),
      ...fileHistoryVolumeRoutes(fileHistory),
      ...restoreRoutes(restores, jobs),
    },
    fileHistory: fileHistoryRoutes(fileHistory, jobs),
    servers: serverRoutes(servers, { volumes, performance }),
    snapshots: snapshotRoutes(snapshots, snapshotListing),
    snapshotPolicies: snapshotPolicyRoutes(snapshotPolicies),
    snapshotSets: snapshotSetRoutes(snapshotSets),
    consistencyGroups: { ...consistencyGroupRoutes({ clones, migrations }), ...mirrorGroupRoutes(mirrors) },
    migrationJobs: migrationRoutes(migrations),
    remoteArrays: remoteArrayRoutes(remoteArrays, () => tools.configuration().management.port),
    mirrorJobs: mirrorRoutes(mirrors),
    objectStorageDestinations: objectStorageRoutes(objectStorage),
    quotas: quotaRoutes(quotas, tools.clock),
    quotaProjects: quotaProjectRoutes(quotaProjects, jobs),
    auditLogs: auditRoutes(new AuditLogService(tools, nas)),
    nasUsers: nasUserRoutes(nas),
    nasGroups: nasGroupRoutes(nas),
    fileCategories: fileCategoryRoutes(fileLifecycle.categories),
    lifecyclePolicies: lifecyclePolicyRoutes(fileLifecycle.policies, fileLifecycle.settings),
    messages: messageRoutes(store, events),
    forecasts: forecastRoutes(forecasts),
    search: searchRoutes(search),
    creators: creatorRoutes(creators),
    changes: changeRoutes(changes),
    webhooks: webhookRoutes(webhooks),
  };
  const peerHandlers: Handlers<typeof peerApi, PeerActor> = {
    peers: { ...peerRoutes(peers, pools), ...destinationRoutes(mirrors.destinations) },
  };
  return {
    changes,
    sessions,
    users,
    creators,
    settings,
    encryption,
    mailer,
    webhooks,
    performance,
    controllers,
    drives,
    raidGroups,
    building,
    membership,
    pools,
    firstPools,
    volumes,
    shares,
    servers,
    snapshots,
    snapshotPolicies,
    snapshotSets,
    migrations,
    remoteArrays,
    mirrors,
    nas,
    fileLifecycle,
    peers,
    delegatedKeys,
    summaries,
    handlers,
    peerHandlers,
  };
}

export type ArrayServices = ReturnType<typeof createServices>;

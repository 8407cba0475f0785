import type { ArrayServices } from './services.ts';

/**
 * Before requests are served: operations that a crash cut off are ended, and the engine gets the state it does not keep (caps,
 * caches, speeds, exports). In the order things stand on each other.
 */
export async function reconcile(services: ArrayServices, onStage: (stage: string) => void): Promise<void> {
  onStage('ending what was under way: drives');
  await services.drives.reconcile();
  onStage('ending what was under way: RAID groups');
  await services.building.reconcile();
  await services.membership.follow();
  await services.settings.reconcile();
  onStage('ending what was under way: pools');
  await services.pools.reconcile();
  if (services.snapshotPolicies.isFirstStart) await services.firstPools.create();
  onStage('ending what was under way: volumes');
  await services.volumes.reconcile();
  await services.nas.reconcile();
  onStage('ending what was under way: servers');
  await services.servers.reconcile();
  onStage('ending what was under way: snapshots');
  await services.snapshots.reconcile();
  await services.snapshotPolicies.createFirst();
  onStage('ending what was under way: mirrors');
  await services.mirrors.reconcile();
  onStage('mounting the shares');
  await services.shares.reconcile();
  await services.fileLifecycle.reconcile();
}

/** What runs by the clock, once everything is reconciled. */
export function startWatching(services: ArrayServices): void {
  services.volumes.startWatching();
  services.nas.startWatching();
  services.performance.start();
  services.servers.startWatching();
  services.mailer.start();
  services.webhooks.deliveries.start();
  services.sessions.start();
  services.snapshotPolicies.scheduler.start();
  services.remoteArrays.start();
  services.mirrors.start();
  services.fileLifecycle.scheduler.start();
}

export async function stopWatching(services: ArrayServices): Promise<void> {
  services.volumes.stopWatching();
  services.sessions.stop();
  await services.mailer.stop();
  await services.webhooks.deliveries.stop();
  await services.performance.stop();
  await services.snapshotPolicies.scheduler.stop();
  await services.mirrors.stop();
  await services.fileLifecycle.stop();
  services.remoteArrays.stop();
  services.snapshotSets.stop();
  await services.migrations.stop();
  await services.pools.stopWatching();
  await services.membership.idle();
}

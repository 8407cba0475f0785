import type { ArrayServices } from './services.ts';

/**
 * Before anybody is served: what a crash cut off is ended, and the engine is told what it does not keep itself (caps,
 * caches, speeds, exports). In the order things stand on each other.
 */
export async function settle(services: ArrayServices, onStage: (stage: string) => void): Promise<void> {
  onStage('ending what was under way: drives');
  await services.drives.settle();
  onStage('ending what was under way: RAID groups');
  await services.building.settle();
  await services.membership.follow();
  onStage('ending what was under way: pools');
  await services.pools.settle();
  onStage('ending what was under way: volumes');
  await services.volumes.settle();
  await services.nas.settle();
  onStage('ending what was under way: servers');
  await services.servers.settle();
  onStage('ending what was under way: snapshots');
  await services.snapshots.settle();
  await services.snapshotPolicies.createFirst();
  onStage('ending what was under way: mirrors');
  await services.mirrors.settle();
  onStage('mounting the shares');
  await services.shares.settle();
  await services.fileLifecycle.settle();
}

/** What runs by the clock, once everything is settled. */
export function startWatching(services: ArrayServices): void {
  services.volumes.startWatching();
  services.nas.startWatching();
  services.performance.start();
  services.servers.startWatching();
  services.mailer.start();
  services.snapshotPolicies.scheduler.start();
  services.remoteArrays.start();
  services.mirrors.start();
  services.fileLifecycle.scheduler.start();
}

export async function stopWatching(services: ArrayServices): Promise<void> {
  services.volumes.stopWatching();
  await services.mailer.stop();
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

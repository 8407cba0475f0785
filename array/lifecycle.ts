import type { ArrayServices } from './services.ts';
import type { ArrayTools } from './tools.ts';

/**
 * Before anybody is served: what a crash cut off is ended, and the engine is told what it does not keep itself (caps,
 * caches, speeds, exports). In the order things stand on each other.
 */
export async function settle(services: ArrayServices, _tools: ArrayTools): Promise<void> {
  await services.drives.settle();
  await services.building.settle();
  await services.membership.follow();
  await services.pools.settle();
  await services.volumes.settle();
  await services.servers.settle();
  await services.snapshots.settle();
  await services.snapshotPolicies.createFirst();
  await services.mirrors.settle();
}

/** What runs by the clock, once everything is settled. */
export function startWatching(services: ArrayServices): void {
  services.volumes.startWatching();
  services.performance.start();
  services.servers.startWatching();
  services.mailer.start();
  services.snapshotPolicies.scheduler.start();
  services.remoteArrays.start();
  services.mirrors.start();
}

export async function stopWatching(services: ArrayServices): Promise<void> {
  services.volumes.stopWatching();
  await services.mailer.stop();
  await services.performance.stop();
  await services.snapshotPolicies.scheduler.stop();
  await services.mirrors.stop();
  services.remoteArrays.stop();
  services.snapshotSets.stop();
  await services.migrations.stop();
  await services.pools.stopWatching();
  await services.membership.idle();
}

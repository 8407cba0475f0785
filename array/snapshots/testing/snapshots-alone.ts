import type { TestContext } from 'node:test';
import { ManualClock } from '@granary/kernel';
import { temporaryFolder } from '../../../testing/folders.ts';
import { toolsAlone } from '../../testing/tools-alone.ts';
import { restoreDependents, shareReaders, volumeDependents, volumeKeys } from '../../relations.ts';
import { CloneService } from '../../consistency-groups/service.ts';
import type { PerformanceService } from '../../performance/service.ts';
import type { PoolService } from '../../pools/service.ts';
import { VolumeEncryption } from '../../settings/encryption.ts';
import { SnapshotPolicyService } from '../../snapshot-policies/service.ts';
import { SnapshotSetService } from '../../snapshot-sets/service.ts';
import { VolumeService } from '../../volumes/service.ts';
import { wantedVolume } from '../../volumes/testing/volumes-alone.ts';
import { ShareService } from '../../shares/service.ts';
import { SnapshotRestore } from '../restore.ts';
import { SnapshotService } from '../service.ts';
import { FakeSnapshotEngine } from './fake-engine.ts';

const performance = { remove: () => undefined } as unknown as PerformanceService;
const pools = { get: (name: string) => ({ name }), refuseNew: () => undefined } as unknown as PoolService;

/** Snapshots and what is made of them, over an engine that is a fake: time can be set, crashes played. No HTTP. */
export async function snapshotsAlone(t: TestContext) {
  const folder = temporaryFolder(t);
  const engine = new FakeSnapshotEngine();
  const clock = new ManualClock('2026-03-01T12:30:00Z');
  let running = await open();
  t.after(() => running.close());

  async function open() {
    const tools = toolsAlone({ folder, engine: engine.asEngine, clock });
    const { store, events, jobs, readings } = tools;
    const encryption = new VolumeEncryption(tools, volumeKeys);
    const volumes = new VolumeService(tools, {
      pools,
      encryption,
      performance,
      shares: new ShareService(tools, shareReaders),
      dependents: volumeDependents,
      recycleBin: () => ({ isOn: false, hours: 24 }),
    });
    const snapshots = new SnapshotService(tools, volumes, pools);
    const restores = new SnapshotRestore(tools, volumes, snapshots, restoreDependents);
    const policies = new SnapshotPolicyService(tools, volumes, snapshots);
    const sets = new SnapshotSetService(tools, { volumes, snapshots, suspendSeconds: () => 10 });
    await readings.refresh();
    await volumes.reconcile();
    await snapshots.reconcile();
    await policies.createFirst();
    await jobs.start();
    return {
      ...tools,
      volumes,
      snapshots,
      restores,
      policies,
      sets,
      clones: new CloneService(volumes, snapshots),
      titles: () =>
        store
          .read((db) => events.list(db, { oldestFirst: true, start: 0, limit: 0 }))
          .messages.map(({ msg_title }) => msg_title),
      close: async () => {
        sets.stop();
        await policies.scheduler.stop();
        await jobs.stop();
        store.close();
      },
    };
  }

  return {
    engine,
    clock,
    get array() {
      return running;
    },
    volume: (displayName: string) => running.volumes.create(wantedVolume(displayName), 'tester'),
    names: (volume?: string) =>
      running.snapshots.list({ volume, start: 0, limit: 0 }).snapshots.map(({ displayName: name }) => name),
    /** As after a kill: nothing that was in memory is there any more. */
    restart: async () => {
      await running.close();
      engine.restart();
      running = await open();
      return running;
    },
  };
}

import type { TestContext } from 'node:test';
import { bytes, ManualClock } from '@granary/kernel';
import { temporaryFolder } from '../../../testing/folders.ts';
import { toolsAlone } from '../../testing/tools-alone.ts';
import { shareReaders, volumeDependents, volumeKeys } from '../../relations.ts';
import type { PerformanceService } from '../../performance/service.ts';
import type { Pool } from '../../pools/pool.ts';
import { insertPool } from '../../pools/repository.ts';
import type { PoolService } from '../../pools/service.ts';
import { VolumeEncryption } from '../../settings/encryption.ts';
import { ShareService } from '../../shares/service.ts';
import { GB } from '../../units.ts';
import { VolumeService } from '../service.ts';
import { FakeVolumeEngine } from './fake-engine.ts';

export const POOL = 'pool-00000001';

const performance = { remove: () => undefined } as unknown as PerformanceService;
const pools = { get: () => poolOf(0), refuseNew: () => undefined } as unknown as PoolService;

/** The volumes of an array whose engine is a fake: figures can be fed, crashes played. No HTTP. */
export async function volumesAlone(t: TestContext) {
  const folder = temporaryFolder(t);
  const engine = new FakeVolumeEngine();
  const clock = new ManualClock('2026-03-01T12:00:00Z');
  const bin = { isOn: false, hours: 24 };
  let running = await open();
  t.after(() => running.close());

  async function open() {
    const tools = toolsAlone({ folder, engine: engine.asEngine, clock, configuration: { dataReduction: false } });
    const { store, events, jobs, readings } = tools;
    const encryption = new VolumeEncryption(tools, volumeKeys);
    const shares = new ShareService(tools, shareReaders);
    const volumes = new VolumeService(tools, {
      pools,
      encryption,
      performance,
      shares,
      dependents: volumeDependents,
      recycleBin: () => bin,
    });
    await store.write((tx) => {
      if (!tx.get('SELECT 1 FROM pools')) insertPool(tx, poolOf(clock.now()));
    });
    await readings.refresh();
    await volumes.reconcile();
    await shares.reconcile();
    await jobs.start();
    return {
      ...tools,
      volumes,
      shares,
      encryption,
      titles: (name: string) =>
        store
          .read((db) => events.list(db, { subject: `volume:${name}`, oldestFirst: true, start: 0, limit: 0 }))
          .messages.map(({ msg_title }) => msg_title),
      close: async () => {
        await jobs.stop();
        store.close();
      },
    };
  }

  return {
    engine,
    clock,
    bin,
    get array() {
      return running;
    },
    /** As after a kill: nothing that was in memory is there any more. */
    restart: async () => {
      await running.close();
      engine.restart();
      running = await open();
      return running;
    },
  };
}

export function wantedVolume(displayName: string, changes = {}) {
  const plain = { compress: false, dedupe: false, encrypted: false };
  return { displayName, pool: POOL, sizeBytes: bytes(10 * GB), ...plain, ...changes };
}

function poolOf(now: number): Pool {
  return {
    name: POOL as Pool['name'],
    displayName: 'main',
    mode: 'simple',
    type: 'Repository Storage',
    capacityBytes: bytes(100 * GB),
    version: 1,
    state: 'ready',
    cache: false,
    cowCache: true,
    coolOffHours: 0,
    capacityMode: 'normal',
    historyMinutes: 60,
    alertMinutes: 0,
    protectedMinutes: 0,
    emergencyBytes: bytes(0),
    effectiveHistoryMinutes: 60,
    effectiveAlertMinutes: 0,
    effectiveProtectedMinutes: 0,
    effectiveEmergencyBytes: bytes(0),
    shrinkGroup: null,
    shrinkJob: null,
    createdAt: now,
    modifiedAt: now,
  };
}

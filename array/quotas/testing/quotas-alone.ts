import type { TestContext } from 'node:test';
import { fail, ManualClock } from '@granary/kernel';
import { temporaryFolder } from '../../../testing/folders.ts';
import { toolsAlone } from '../../testing/tools-alone.ts';
import type { Engine } from '../../engine/engine.ts';
import { FileHistoryService } from '../../file-history/service.ts';
import { NasService } from '../../nas/service.ts';
import type { PoolService } from '../../pools/service.ts';
import { SnapshotService } from '../../snapshots/service.ts';
import { findVolume } from '../../volumes/repository.ts';
import type { Volume } from '../../volumes/volume.ts';
import type { VolumeService } from '../../volumes/service.ts';
import { QuotaProjectService } from '../projects.ts';
import { QuotaService } from '../service.ts';
import { FakeShares } from './fake-shares.ts';

export const SHARE = 'volume-00000001';
export const OTHER_SHARE = 'volume-00000002';

const pools = { get: () => undefined, refuseNew: () => undefined } as unknown as PoolService;

/** Quotas, their projects, NAS accounts and file history of two shares, on an engine that is a fake. No HTTP. */
export async function quotasAlone(t: TestContext) {
  const folder = temporaryFolder(t);
  const shares = new FakeShares();
  const clock = new ManualClock('2026-03-01T12:00:00Z');
  let running = await open();
  t.after(() => running.close());

  async function open() {
    const tools = toolsAlone({ folder, engine: shares as unknown as Engine, clock, configuration: { folder } });
    const { store, events, jobs } = tools;
    await store.write((tx) => {
      for (const name of [SHARE, OTHER_SHARE])
        tx.run(
          `INSERT OR IGNORE INTO volumes (name, display_name, cg_name, pool, size_bytes, state, compress, dedupe, wwid,
             created_at, modified_at) VALUES (:name, :name, :name, 'pool-00000001', 1, 'ready', 0, 0, :name, 0, 0)`,
          { name },
        );
    });
    const share = (name: string): Volume => {
      const volume = store.read((db) => findVolume(db, name));
      if (!volume) throw fail('volume_not_found', { id: name });
      return volume;
    };
    const served = { followSnapshots: async () => undefined };
    const volumes = { get: share, getShare: share, usableShare: share, shares: served } as unknown as VolumeService;
    const nas = new NasService(tools);
    const snapshots = new SnapshotService(tools, volumes, pools);
    const services = {
      nas,
      snapshots,
      quotas: new QuotaService(tools, { volumes, nas }),
      projects: new QuotaProjectService(tools, volumes),
      history: new FileHistoryService(tools, { volumes, snapshots }),
    };
    await jobs.start();
    return {
      ...tools,
      ...services,
      share,
      titles: () =>
        store
          .read((db) => events.list(db, { oldestFirst: true, start: 0, limit: 0 }))
          .messages.map(({ msg_title }) => msg_title),
      close: async () => {
        await jobs.stop();
        store.close();
      },
    };
  }

  return {
    folder,
    shares,
    clock,
    get array() {
      return running;
    },
    restart: async () => {
      await running.close();
      running = await open();
      return running;
    },
    /** Nothing that was under way ends. */
    kill: async () => {
      const { store, jobs } = running;
      store.close();
      // Only its timers: the store is closed to it, and what runs may never end.
      void jobs.stop();
      running = await open();
      return running;
    },
  };
}

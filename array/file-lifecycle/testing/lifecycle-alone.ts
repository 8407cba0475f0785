import type { TestContext } from 'node:test';
import { type Jobs, ManualClock, type Store } from '@granary/kernel';
import { temporaryFolder } from '../../../testing/folders.ts';
import { toolsAlone } from '../../testing/tools-alone.ts';
import { shareReaders, volumeDependents, volumeKeys } from '../../relations.ts';
import { PEOPLE, serve } from '../../../protocols/s3/testing/serve.ts';
import { ObjectStorageDestinationService } from '../../object-storage-destinations/service.ts';
import type { PerformanceService } from '../../performance/service.ts';
import type { PoolService } from '../../pools/service.ts';
import { VolumeEncryption } from '../../settings/encryption.ts';
import { ShareService } from '../../shares/service.ts';
import { SnapshotService } from '../../snapshots/service.ts';
import { VolumeService } from '../../volumes/service.ts';
import { wantedVolume } from '../../volumes/testing/volumes-alone.ts';
import { FileLifecycleService } from '../service.ts';
import { FakeShareEngine } from './fake-share-engine.ts';
import { NOW_MS } from './listed-file.ts';

const performance = { remove: () => undefined } as unknown as PerformanceService;
const pools = { get: (name: string) => ({ name }), refuseNew: () => undefined } as unknown as PoolService;

/** File lifecycle over shares in memory: time can be set, crashes played. No HTTP but to buckets. */
export async function lifecycleAlone(t: TestContext) {
  const folder = temporaryFolder(t);
  const engine = new FakeShareEngine();
  const clock = new ManualClock(NOW_MS);
  engine.nowMs = () => clock.now();
  let running = await open();
  t.after(() => running.close());

  async function open() {
    const tools = toolsAlone({
      folder,
      engine: engine.asEngine,
      clock,
      configuration: { internalName: 'vsa-00000001' },
    });
    const { store, events, jobs, readings } = tools;
    const volumes = new VolumeService(tools, {
      pools,
      encryption: new VolumeEncryption(tools, volumeKeys),
      performance,
      shares: new ShareService(tools, shareReaders),
      dependents: volumeDependents,
      recycleBin: () => ({ isOn: false, hours: 24 }),
    });
    const snapshots = new SnapshotService(tools, volumes, pools);
    const lifecycle = new FileLifecycleService(tools, {
      snapshots,
      share: (name) => volumes.get(name),
      accounts: { uid: (user) => ({ anna: 1_000 })[user], gid: () => undefined },
    });
    const destinations = new ObjectStorageDestinationService(tools);
    await readings.refresh();
    await volumes.reconcile();
    await snapshots.reconcile();
    await lifecycle.reconcile();
    await jobs.start();
    return {
      ...tools,
      volumes,
      snapshots,
      lifecycle,
      destinations,
      titles: () =>
        store
          .read((db) => events.list(db, { oldestFirst: true, start: 0, limit: 0 }))
          .messages.map(({ msg_title }) => msg_title),
      close: async () => {
        await lifecycle.stop();
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
    share: async (displayName: string) => (await running.volumes.create(wantedVolume(displayName), 'tester')).name,
    /** As after a kill: nothing that was in memory is there any more. */
    restart: async () => {
      await running.close();
      engine.restart();
      running = await open();
      return running;
    },
    policy: async (changes: object = {}) => {
      const plain = { displayName: `policy ${++made}`, criteria: { size: { $gte: 0 } }, action: 'expire' } as const;
      const switches = { isEnabled: true, isDryRun: false, usesBin: false };
      return (await running.lifecycle.policies.create({ ...plain, ...switches, ...changes }, 'tester')).name;
    },
    attach: (policy: string, share: string) => running.lifecycle.policies.attach(policy, share, 'tester'),
    /** Runs what is due a day later, and waits until it has ended. */
    scan: async (share: string) => {
      clock.advance(86_400_000);
      await running.lifecycle.scheduler.runDue();
      await idle(running.store, running.jobs, share);
    },
    idle: (share: string) => idle(running.store, running.jobs, share),
    rule: (share: string) => running.lifecycle.policies.listRules({ volume: share }, { first: 0, number: 0 }).rules[0],
  };
}

let made = 0;
const SWEEP = 'lifecycle-objects';

async function idle(store: Store, jobs: Jobs, share: string): Promise<void> {
  for (const subject of [`lifecycle:${share}`, SWEEP]) {
    for (;;) {
      const job = store.read((db) => jobs.unfinished(db, subject));
      // A sweep that is put off is not waited for: its bucket does not answer.
      const isPutOff = subject === SWEEP && job !== undefined && jobs.get(job)?.note !== '';
      if (job === undefined || isPutOff) break;
      await jobs.wait(job, 100);
    }
  }
}

/** A bucket of a real S3 server, made known to the array; its name there. */
export async function archiveBucket(t: TestContext, array: { destinations: ObjectStorageDestinationService }) {
  const served = await serve();
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= served.close());
  t.after(close);
  const client = served.as('ada');
  await client.call('PUT', '/archive');
  const { access: username, secret: password } = PEOPLE.ada.keys;
  const endpoint = served.origin.replace('http://', '');
  const request = { name: 'archive', bucket: 'archive', endpoint, username, password, type: 's3' };
  const destination = await array.destinations.create(
    { ...request, connectVia: 'fe', allow_lifecycle_policies: false },
    'tester',
  );
  return { name: destination.name, reference: `${endpoint}/archive`, client, close };
}

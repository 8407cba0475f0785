import { DestinationBuckets } from '../object-storage-destinations/buckets.ts';
import type { SnapshotService } from '../snapshots/service.ts';
import type { ArrayTools } from '../tools.ts';
import type { Volume } from '../volumes/volume.ts';
import { FileArchiver } from './archive/file-archiver.ts';
import { RecallService } from './archive/recalls.ts';
import { ArchiveCollector } from './archive/archive-collector.ts';
import { FileCategoryService } from './categories/service.ts';
import type { CriteriaContext } from './criteria/fields.ts';
import { LifecyclePolicyService } from './policies/service.ts';
import { LifecycleSettings } from './policies/settings.ts';
import { markAllRuns } from './scans/repository.ts';
import { LifecycleScheduler } from './scans/scheduler.ts';
import { ScanService } from './scans/service.ts';

interface Neighbours {
  readonly snapshots: SnapshotService;
  /** A share that is there; else `volume_not_found`, or why it is none. */
  readonly share: (name: string) => Volume;
  /** Numbers of the users and groups that shares know by name. */
  readonly accounts: Pick<CriteriaContext, 'uid' | 'gid'>;
}

/** What happens to files as they age: categories, policies, scans, the archive and recalls from it. */
export class FileLifecycleService {
  readonly categories: FileCategoryService;
  readonly policies: LifecyclePolicyService;
  readonly settings: LifecycleSettings;
  readonly scans: ScanService;
  readonly recalls: RecallService;
  readonly scheduler: LifecycleScheduler;
  readonly #buckets: DestinationBuckets;

  constructor(tools: ArrayTools, { snapshots, share, accounts }: Neighbours) {
    this.#buckets = new DestinationBuckets(tools);
    this.categories = new FileCategoryService(tools);
    this.recalls = new RecallService(tools, this.#buckets);
    const context = (nowMs: number) => ({ nowMs, ...accounts, ...this.categories.lookups() });
    const sweeping = new ArchiveCollector(tools, this.#buckets);
    this.scans = new ScanService(tools, {
      snapshots,
      archives: new FileArchiver(tools, this.#buckets),
      sweeping,
      context,
    });
    this.settings = new LifecycleSettings(tools, {
      timesChanged: (tx) => markAllRuns(tx, tools.clock.now()),
      wake: () => this.scheduler.wake(),
    });
    this.policies = new LifecyclePolicyService(tools, {
      share,
      context: () => context(tools.clock.now()),
      enable: (tx, volume) => this.scans.enableIn(tx, volume),
      scan: (volume, actor) => this.scans.startNow(volume, actor),
      changed: (tx) => this.scans.changed(tx),
      wake: () => this.scheduler.wake(),
    });
    this.scheduler = new LifecycleScheduler(tools, {
      times: () => this.settings.times(),
      retentionSeconds: () => this.settings.retentionSeconds(),
      scan: (volume, at) => this.scans.start(volume, at),
      sweep: () => tools.store.write((tx) => sweeping.start(tx)),
    });
  }

  async reconcile(): Promise<void> {
    await this.categories.createFirst();
  }

  async stop(): Promise<void> {
    await this.scheduler.stop();
    await this.scans.stop();
    await this.recalls.stop();
    this.#buckets.close();
  }
}

import { Buckets } from '../object-storage-destinations/buckets.ts';
import type { Snapshots } from '../snapshots/service.ts';
import type { ArrayTools } from '../tools.ts';
import type { Volume } from '../volumes/volume.ts';
import { Archives } from './archive/archives.ts';
import { Recalls } from './archive/recalls.ts';
import { Sweeping } from './archive/sweeping.ts';
import { FileCategories } from './categories/service.ts';
import type { CriteriaContext } from './criteria/fields.ts';
import { LifecyclePolicies } from './policies/service.ts';
import { LifecycleSettings } from './policies/settings.ts';
import { markAllRuns } from './scans/repository.ts';
import { LifecycleScheduler } from './scans/scheduler.ts';
import { Scans } from './scans/service.ts';

interface Neighbours {
  readonly snapshots: Snapshots;
  /** A share that is there; else `volume_not_found`, or why it is none. */
  readonly share: (name: string) => Volume;
  /** Numbers of the users and groups that shares know by name. */
  readonly accounts: Pick<CriteriaContext, 'uid' | 'gid'>;
}

/** What happens to files as they age: categories, policies, scans, the archive and recalls from it. */
export class FileLifecycle {
  readonly categories: FileCategories;
  readonly policies: LifecyclePolicies;
  readonly settings: LifecycleSettings;
  readonly scans: Scans;
  readonly recalls: Recalls;
  readonly scheduler: LifecycleScheduler;
  readonly #buckets: Buckets;

  constructor(tools: ArrayTools, { snapshots, share, accounts }: Neighbours) {
    this.#buckets = new Buckets(tools);
    this.categories = new FileCategories(tools);
    this.recalls = new Recalls(tools, this.#buckets);
    const context = (nowMs: number) => ({ nowMs, ...accounts, ...this.categories.lookups() });
    const sweeping = new Sweeping(tools, this.#buckets);
    this.scans = new Scans(tools, { snapshots, archives: new Archives(tools, this.#buckets), sweeping, context });
    this.settings = new LifecycleSettings(tools, {
      timesChanged: (tx) => markAllRuns(tx, tools.clock.now()),
      wake: () => this.scheduler.wake(),
    });
    this.policies = new LifecyclePolicies(tools, {
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

  async settle(): Promise<void> {
    await this.categories.createFirst();
  }

  async stop(): Promise<void> {
    await this.scheduler.stop();
    await this.scans.stop();
    await this.recalls.stop();
    this.#buckets.close();
  }
}

import type { NewSnapshot, SnapshotSizes } from '../../engine/engine.ts';
import type { Work } from '../../engine/work.ts';
import { EngineError } from '../../engine/errors.ts';
import type {
  NasAccounts,
  QuotaLimit,
  QuotaScope,
  QuotaSwitches,
  QuotaUsage,
  ShareEngine,
} from '../../engine/shares.ts';

type Faked =
  'putNasAccounts' | 'quotaState' | 'setQuotaState' | 'quota' | 'quotas' | 'setQuotas' | 'setProject' | 'restoreFile';

/** What quotas, NAS accounts and file history need of an engine, for one share, without a byte of it. */
export class FakeShares implements Pick<ShareEngine, Faked> {
  accounts: NasAccounts | undefined;
  switches: QuotaSwitches = { user: false, group: false, project: false };
  /** Those that are there; of each, the project it belongs to. */
  readonly directories = new Map<string, number>();
  readonly restored: string[] = [];
  /** Called before a directory changes its project, or a file is restored. */
  before: (path: string, project: number, work: Work) => Promise<void> = () => Promise.resolve();
  readonly #quotas = new Map<string, QuotaUsage>();

  use(scope: QuotaScope, id: number, usedBytes: number): void {
    this.#put({ ...this.#get(scope, id), usedBytes, files: 1 });
  }

  async putNasAccounts(accounts: NasAccounts): Promise<void> {
    this.accounts = accounts;
  }

  async quotaState(): Promise<QuotaSwitches> {
    return this.switches;
  }

  async setQuotaState(_volume: string, state: QuotaSwitches): Promise<void> {
    this.switches = state;
  }

  async quota(_volume: string, scope: QuotaScope, id: number): Promise<QuotaUsage> {
    return this.#get(scope, id);
  }

  async quotas(_volume: string, scope: QuotaScope, fromId: number, limit: number): Promise<readonly QuotaUsage[]> {
    return [...this.#quotas.values()]
      .filter((quota) => quota.scope === scope && quota.id >= fromId)
      .sort((one, other) => one.id - other.id)
      .slice(0, limit);
  }

  async setQuotas(_volume: string, limits: readonly QuotaLimit[]): Promise<void> {
    for (const limit of limits) this.#put({ ...this.#get(limit.scope, limit.id), limitBytes: limit.limitBytes });
  }

  async setProject(_volume: string, path: string, project: number, work: Work): Promise<void> {
    await this.before(path, project, work);
    if (!this.directories.has(path)) throw new EngineError('not-found', `There is no directory ${path}.`);
    this.directories.set(path, project);
  }

  async restoreFile(_volume: string, snapshot: string, path: string, toPath: string, work: Work): Promise<void> {
    await this.before(path, 0, work);
    this.restored.push(`${snapshot} ${path} ${toPath}`);
  }

  async takeSnapshots(wanted: readonly NewSnapshot[]): Promise<SnapshotSizes> {
    return wanted.map(() => 1);
  }

  async deleteSnapshot(): Promise<void> {
    return Promise.resolve();
  }

  #get(scope: QuotaScope, id: number): QuotaUsage {
    return this.#quotas.get(`${scope} ${id}`) ?? { scope, id, limitBytes: undefined, usedBytes: 0, files: 0 };
  }

  #put(quota: QuotaUsage): void {
    const key = `${quota.scope} ${quota.id}`;
    if (quota.limitBytes === undefined && quota.usedBytes === 0) this.#quotas.delete(key);
    else this.#quotas.set(key, quota);
  }
}

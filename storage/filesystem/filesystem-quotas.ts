import { FsError } from './errors.ts';
import { type Credentials, isSuperuser } from './files/access.ts';
import { changeProject } from './files/changes.ts';
import type { FilesystemChanges, Context } from './files/context.ts';
import {
  listQuotas,
  type Quota,
  type QuotaScope,
  type QuotaState,
  readQuota,
  readQuotaState,
  setQuotaLimits,
  writeQuotaState,
} from './files/quotas.ts';
import type { Awaitable } from './store/filesystem-store.ts';

/** Limits that are set in one transaction. */
const LIMITS_PER_STEP = 256;

export type QuotaLimits = Pick<Quota, 'scope' | 'id' | 'limitBytes' | 'limitInodes'>;

/** Usage and limits of users, groups and projects. Changes are durable when they resolve. */
export class FilesystemQuotas {
  readonly #context: Context;
  readonly #changes: FilesystemChanges;

  constructor(context: Context, changes: FilesystemChanges) {
    this.#context = context;
    this.#changes = changes;
  }

  get(scope: QuotaScope, id: number): Awaitable<Quota> {
    const { store } = this.#context;
    return store.read(() => readQuota(store.tree, scope, id));
  }

  /** By id, from one on. */
  list(scope: QuotaScope, from: number, max: number): Awaitable<Quota[]> {
    const { store } = this.#context;
    return store.read(() => listQuotas(store.tree, scope, from, max));
  }

  /** Sets limits, a few hundred in each transaction. */
  async set(limits: readonly QuotaLimits[]): Promise<void> {
    for (let at = 0; at < limits.length; at += LIMITS_PER_STEP) {
      await this.#changes.make((transaction) => {
        for (const { scope, id, limitBytes, limitInodes } of limits.slice(at, at + LIMITS_PER_STEP)) {
          setQuotaLimits(transaction, scope, id, { limitBytes, limitInodes });
        }
      });
    }
    await this.#context.store.commit();
  }

  state(): Awaitable<QuotaState> {
    const { store } = this.#context;
    return store.read(() => readQuotaState(store.tree));
  }

  async setState(state: QuotaState): Promise<void> {
    await this.#changes.durably((transaction) => writeQuotaState(transaction, state));
  }

  /** Moves one file or directory to a project; files created in the directory from now on belong to it as well. */
  async setProject(credentials: Credentials, inode: number, project: number): Promise<void> {
    if (!isSuperuser(credentials)) throw new FsError('EPERM', 'Only the superuser moves files to another project.');
    await this.#changes.durably((transaction) => changeProject(transaction, this.#context, inode, project));
  }
}

import { badParameter, fail, type JobOutcome, type Page, type RunningJob, type Tx } from '@granary/kernel';
import { LongWork, type Position } from '../long-work.ts';
import { nextName } from '../sequences/repository.ts';
import { findSnapshot } from '../snapshots/repository.ts';
import type { SnapshotInPlace } from '../snapshots/snapshot.ts';
import type { SnapshotService } from '../snapshots/service.ts';
import type { ArrayTools } from '../tools.ts';
import type { ShareFinder } from '../volumes/service.ts';
import { countRunning, endRestore, findRestore, removeOld, insertRestore, listRestores } from './repository.ts';
import type { FileRestore } from './restore.ts';

export interface RestoreRequest {
  readonly snapshot: string;
  readonly path: string;
  readonly toPath?: string | undefined;
}

interface RestoreWork {
  readonly restore: string;
  readonly actor: string;
}

interface Neighbours {
  readonly volumes: ShareFinder;
  readonly snapshots: SnapshotService;
}

const KIND = 'restore-file';
const RUNNING_MAX = 100;
const KEPT_MAX = 1_000;
const NAME_BYTES_MAX = 255;
const APPLICATION = 'file_history';

/** Earlier versions of files: the snapshots that policies take for that, and single files brought back from them. */
export class FileHistoryService {
  readonly #tools: ArrayTools;
  readonly #volumes: ShareFinder;
  readonly #snapshots: SnapshotService;
  readonly #work = new LongWork();

  constructor(tools: ArrayTools, { volumes, snapshots }: Neighbours) {
    this.#tools = tools;
    this.#volumes = volumes;
    this.#snapshots = snapshots;
    tools.jobs.register<RestoreWork, Position>(
      KIND,
      (job) => this.#run(job),
      (tx, { restore, actor }, reason) => this.#end(tx, restore, reason, actor),
    );
  }

  list(volume: string, page: Page): { snapshots: SnapshotInPlace[]; count: number } {
    this.#volumes.getShare(volume);
    return this.#snapshots.list({ volume, application: APPLICATION, ...page });
  }

  /** Deletes its snapshots. The policies that took them go on. */
  async delete(volume: string, actor: string): Promise<void> {
    const { snapshots, count } = this.list(volume, { start: 0, limit: 0 });
    if (count === 0) throw fail('nothing_to_delete');
    for (const snapshot of snapshots) this.#snapshots.refuseNeeded(snapshot);
    await this.#snapshots.delete(
      snapshots.map(({ name }) => name),
      actor,
    );
  }

  listRestores(volume: string, page: Page): { restores: FileRestore[]; count: number } {
    this.#volumes.getShare(volume);
    return this.#tools.store.read((db) => listRestores(db, volume, page));
  }

  /** How far it is, in percent. */
  progressOf({ job }: FileRestore): number {
    return this.#tools.jobs.get(job)?.progress ?? 0;
  }

  /** Begins to bring a file back; it may be large. */
  restore(volume: string, { snapshot, path, toPath }: RestoreRequest, actor: string): Promise<FileRestore> {
    const { store, jobs, clock } = this.#tools;
    checkPath('path', path);
    checkPath('to_path', toPath ?? path);
    return store.write((tx) => {
      this.#volumes.usableShare(volume);
      if (this.#snapshots.get(snapshot).volume !== volume) throw fail('snapshot_not_found', { id: snapshot });
      if (countRunning(tx, volume) >= RUNNING_MAX) {
        throw fail('file_restores_limit', { share: volume, max: RUNNING_MAX });
      }
      const name = nextName(tx, 'restore');
      const job = jobs.enqueue(tx, KIND, `restore:${name}`, { restore: name, actor } satisfies RestoreWork);
      const now = clock.now();
      const times = { createdAt: now, modifiedAt: now };
      const to = { path, toPath: toPath ?? path };
      const restore: FileRestore = { name, volume, snapshot, ...to, state: 'running', problem: null, job, ...times };
      insertRestore(tx, restore);
      return restore;
    });
  }

  /** To do so once more writes the same bytes: a job that was cut off begins again. */
  async #run(job: RunningJob<RestoreWork, Position>): Promise<JobOutcome> {
    const { engine, store } = this.#tools;
    const { restore, actor } = job.arguments;
    const fileRestore = store.read((db) => findRestore(db, restore));
    // The share is gone.
    if (!fileRestore) return { outcome: 'done' };
    const { volume, snapshot, path, toPath } = fileRestore;
    if (!this.#isThere(snapshot)) return this.#failure(job.arguments, `Snapshot ${snapshot} was deleted meanwhile.`);
    const ended = await this.#work.run(job, {
      note: `restoring ${path}`,
      work: (_from, work) =>
        this.#snapshots.using(snapshot, () => engine.restoreFile(volume, snapshot, path, toPath, work)),
    });
    if (ended.how === 'put-off') return ended.outcome;
    if (ended.how === 'done') return { outcome: 'done', finish: (tx) => this.#end(tx, restore, null, actor) };
    return this.#failure(job.arguments, ended.how === 'failed' ? ended.reason : 'It was stopped.');
  }

  #isThere(snapshot: string): boolean {
    return this.#tools.store.read((db) => findSnapshot(db, snapshot)) !== undefined;
  }

  #failure({ restore, actor }: RestoreWork, reason: string): JobOutcome {
    return { outcome: 'failed', reason, finish: (tx) => this.#end(tx, restore, reason, actor) };
  }

  #end(tx: Tx, name: string, problem: string | null, actor: string): void {
    const restore = findRestore(tx, name);
    if (!restore) return;
    endRestore(tx, name, problem, this.#tools.clock.now());
    removeOld(tx, restore.volume, KEPT_MAX);
    const where = restore.toPath === restore.path ? '' : ` to ${restore.toPath}`;
    const what = problem === null ? 'was restored' : 'could not be restored';
    const why = problem === null ? '.' : `: ${problem}`;
    this.#tools.events.record(tx, {
      severity: problem === null ? 'notice' : 'warning',
      title: `Share ${restore.volume}: ${restore.path} of snapshot ${restore.snapshot} ${what}${where}${why}`,
      subject: `volume:${restore.volume}`,
      actor,
    });
  }
}

function checkPath(field: string, path: string): void {
  const names = path.split('/').slice(1);
  if (!path.startsWith('/') || names.some((name) => name === '' || name === '.' || name === '..'))
    throw badParameter(field, 'must name a file from the root of the share, such as /reports/march.ods');
  if (path.includes('\0')) throw badParameter(field, 'must not hold a NUL character');
  if (names.some((name) => Buffer.byteLength(name) > NAME_BYTES_MAX))
    throw badParameter(field, `must have names of at most ${NAME_BYTES_MAX} bytes`);
}

import type { JobOutcome, RunningJob, Tx } from '@granary/kernel';
import type { Work } from '../engine/work.ts';
import { isEngineError } from '../engine/errors.ts';
import { LongWork, type Position } from '../long-work.ts';
import type { ArrayTools } from '../tools.ts';
import {
  changeDirectory,
  findDirectory,
  findProject,
  listDirectories,
  removeDirectory,
  removeProject,
} from './repository.ts';

export const SET_PROJECT = 'set-quota-project';
export const DELETE_PROJECT = 'delete-quota-project';

interface DirectoryWork {
  readonly volume: string;
  readonly project: string;
  readonly path: string;
  readonly isAdded: boolean;
  readonly actor: string;
}

interface ProjectWork {
  readonly volume: string;
  readonly project: string;
  readonly actor: string;
}

/** Moves files in and out of quota projects. To do so once more changes nothing: a job that was cut off begins again. */
export class ProjectJobs {
  readonly #tools: ArrayTools;
  readonly #work = new LongWork();

  constructor(tools: ArrayTools) {
    this.#tools = tools;
  }

  register(): void {
    const { jobs } = this.#tools;
    jobs.register<DirectoryWork, Position>(
      SET_PROJECT,
      (job) => (job.arguments.isAdded ? this.#add(job) : this.#remove(job)),
      (tx, args, reason) => this.#giveUp(tx, args, reason),
    );
    jobs.register<ProjectWork, Position>(DELETE_PROJECT, (job) => this.#delete(job));
  }

  async #add(job: RunningJob<DirectoryWork, Position>): Promise<JobOutcome> {
    const { engine, store } = this.#tools;
    const { volume, project, path } = job.arguments;
    const number = store.read((db) => findProject(db, volume, project))?.number;
    // The share, or the project, is gone by now.
    if (number === undefined) return { outcome: 'done' };
    const ended = await this.#run(job, `adding ${path}`, (work) => engine.setProject(volume, path, number, work));
    if (ended.how === 'put-off') return ended.outcome;
    if (ended.how === 'done') return { outcome: 'done', finish: (tx) => this.#finishAdding(tx, job.arguments) };
    const reason = ended.how === 'failed' ? ended.reason : 'It was stopped.';
    // What was moved before it failed belongs to no project again.
    const undone = await this.#clearProject(job, volume, path);
    if (undone !== undefined) return undone;
    return { outcome: 'failed', reason, finish: (tx) => this.#giveUp(tx, job.arguments, reason) };
  }

  async #remove(job: RunningJob<DirectoryWork, Position>): Promise<JobOutcome> {
    const { volume, path } = job.arguments;
    const directory = this.#tools.store.read((db) => findDirectory(db, volume, path));
    if (!directory) return { outcome: 'done' };
    const postponed = await this.#clearProject(job, volume, path);
    return postponed ?? { outcome: 'done', finish: (tx) => this.#finishRemoving(tx, job.arguments) };
  }

  async #delete(job: RunningJob<ProjectWork, Position>): Promise<JobOutcome> {
    const { engine, store } = this.#tools;
    const { volume, project, actor } = job.arguments;
    const found = store.read((db) => findProject(db, volume, project));
    if (!found) return { outcome: 'done' };
    for (const { path } of store.read((db) => listDirectories(db, volume, project))) {
      const postponed = await this.#clearProject(job, volume, path);
      if (postponed !== undefined) return postponed;
    }
    await engine.setQuotas(volume, [{ scope: 'project', id: found.number, limitBytes: undefined }]);
    return {
      outcome: 'done',
      finish: (tx) => {
        removeProject(tx, volume, project);
        const title = `Quota project ${found.displayName} (${project}) of share ${volume} was deleted.`;
        this.#tools.events.record(tx, { title, subject: `volume:${volume}`, actor });
      },
    };
  }

  /** Why the job has to go on later; undefined when nothing in the directory belongs to a project any more. */
  async #clearProject(
    job: RunningJob<unknown, Position>,
    volume: string,
    path: string,
  ): Promise<JobOutcome | undefined> {
    const { engine } = this.#tools;
    const ended = await this.#run(job, `taking out ${path}`, async (work) => {
      try {
        await engine.setProject(volume, path, 0, work);
      } catch (error) {
        // It was deleted or renamed.
        if (!isEngineError(error, 'not-found')) throw error;
      }
    });
    if (ended.how === 'put-off') return ended.outcome;
    if (ended.how === 'failed') return { outcome: 'retry', afterMs: RETRY_MS, reason: ended.reason };
    return undefined;
  }

  #run(job: RunningJob<unknown, Position>, note: string, call: (work: Work) => Promise<void>) {
    return this.#work.run(job, { note, work: (_from, work) => call(work) });
  }

  #finishAdding(tx: Tx, { volume, project, path, actor }: DirectoryWork): void {
    // Taken out again before it was all in: the next job sees to that.
    if (findDirectory(tx, volume, path)?.state !== 'adding') return;
    changeDirectory(tx, { volume, path, state: 'ready', job: null });
    this.#record(tx, volume, `Directory ${path} of share ${volume} was added to quota project ${project}.`, actor);
  }

  #finishRemoving(tx: Tx, { volume, project, path, actor }: DirectoryWork): void {
    removeDirectory(tx, volume, path);
    this.#record(tx, volume, `Directory ${path} of share ${volume} was taken out of quota project ${project}.`, actor);
  }

  #giveUp(tx: Tx, { volume, project, path, isAdded, actor }: DirectoryWork, reason: string): void {
    if (isAdded && findDirectory(tx, volume, path)?.state === 'adding') removeDirectory(tx, volume, path);
    const doing = isAdded ? 'added to' : 'taken out of';
    const title = `Directory ${path} of share ${volume} could not be ${doing} quota project ${project}: ${reason}`;
    this.#tools.events.record(tx, { severity: 'warning', title, subject: `volume:${volume}`, actor });
  }

  #record(tx: Tx, volume: string, title: string, actor: string): void {
    this.#tools.events.record(tx, { title, subject: `volume:${volume}`, actor });
  }
}

const RETRY_MS = 15_000;

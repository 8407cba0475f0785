import { fail, GranaryError, type Page, type Tx } from '@granary/kernel';
import { nextNumber } from '../sequences/repository.ts';
import type { ArrayTools } from '../tools.ts';
import type { ShareFinder } from '../volumes/service.ts';
import { readDirectoryPath } from './paths.ts';
import { DELETE_PROJECT, ProjectJobs, SET_PROJECT } from './project-jobs.ts';
import {
  changeDirectory,
  countDirectories,
  countProjects,
  findDirectory,
  findOverlapping,
  findProject,
  insertDirectory,
  insertProject,
  isProjectNameTaken,
  listDirectories,
  listProjects,
  markProjectDeleted,
  touchProject,
} from './repository.ts';
import type { QuotaDirectory, QuotaProject } from './project.ts';

export interface ProjectWithDirectories extends QuotaProject {
  readonly directories: readonly QuotaDirectory[];
}

/** Work that was begun for one directory. */
export interface BegunDirectory {
  readonly path: string;
  readonly job: number;
}

const PROJECTS_MAX = 10_000;
const DIRECTORIES_MAX = 100_000;

/** Directories of a share that have a quota together. Moving the files of a directory to a project may take long. */
export class QuotaProjectService {
  readonly #tools: ArrayTools;
  readonly #volumes: ShareFinder;

  constructor(tools: ArrayTools, volumes: ShareFinder) {
    this.#tools = tools;
    this.#volumes = volumes;
    new ProjectJobs(tools).register();
  }

  list(volume: string, page: Page): { projects: ProjectWithDirectories[]; count: number } {
    this.#volumes.getShare(volume);
    return this.#tools.store.read((db) => ({
      projects: listProjects(db, volume, page).map((project) => ({
        ...project,
        directories: listDirectories(db, volume, project.name),
      })),
      count: countProjects(db, volume),
    }));
  }

  /** How far the work on a directory is, in percent. */
  progressOf({ job }: QuotaDirectory): number {
    return job === null ? 100 : (this.#tools.jobs.get(job)?.progress ?? 0);
  }

  create(volume: string, displayName: string, actor: string): Promise<QuotaProject> {
    return this.#tools.store.write((tx) => this.#createIn(tx, volume, displayName, actor));
  }

  /** With each of the directories that can be added; says of the others what is wrong with them. */
  createWith(
    volume: string,
    displayName: string,
    paths: readonly string[],
    actor: string,
  ): Promise<{ begun: BegunDirectory[]; errors: string[] }> {
    return this.#tools.store.write((tx) => {
      const { name } = this.#createIn(tx, volume, displayName, actor);
      const begun: BegunDirectory[] = [];
      const errors: string[] = [];
      for (const path of paths) {
        try {
          begun.push(this.#addIn(tx, volume, name, path, actor));
        } catch (error) {
          if (!(error instanceof GranaryError)) throw error;
          errors.push(`${path}: ${error.message}`);
        }
      }
      return { begun, errors };
    });
  }

  #createIn(tx: Tx, volume: string, displayName: string, actor: string): QuotaProject {
    this.#volumes.usableShare(volume);
    if (isProjectNameTaken(tx, volume, displayName)) throw fail('name_taken', { name: displayName });
    if (countProjects(tx, volume) >= PROJECTS_MAX) {
      throw fail('quota_projects_limit', { share: volume, max: PROJECTS_MAX });
    }
    const number = nextNumber(tx, 'project');
    const now = this.#tools.clock.now();
    const project: QuotaProject = {
      volume,
      name: `project-${number.toString(16).padStart(8, '0')}`,
      number,
      displayName,
      deleteJob: null,
      createdAt: now,
      modifiedAt: now,
    };
    insertProject(tx, project);
    this.#record(tx, project, 'was created', actor);
    return project;
  }

  /** Begins to move everything in the directory to the project; again if it was recreated since it was added. */
  addDirectory(volume: string, project: string, path: string, actor: string): Promise<BegunDirectory> {
    return this.#tools.store.write((tx) => this.#addIn(tx, volume, project, path, actor));
  }

  /** Writes nothing before all is checked: a refusal leaves the transaction as it was. */
  #addIn(tx: Tx, volume: string, project: string, path: string, actor: string): BegunDirectory {
    const { jobs, clock } = this.#tools;
    this.#volumes.usableShare(volume);
    const present = this.#project(tx, volume, project);
    const directory = readDirectoryPath('path', path);
    const other = findOverlapping(tx, volume, directory);
    const isAgain = other?.path === directory && other.project === project && other.state === 'ready';
    if (!isAgain) refuseNew(tx, volume, directory, other);
    const args = { volume, project, path: directory, isAdded: true, actor };
    const job = jobs.enqueue(tx, SET_PROJECT, subjectOf(volume), args);
    const begun = { volume, path: directory, state: 'adding', job } as const;
    if (isAgain) changeDirectory(tx, begun);
    else insertDirectory(tx, { ...begun, project });
    touchProject(tx, volume, present.name, clock.now());
    return { path: directory, job };
  }

  /** Begins to take everything in the directory out of the project. */
  removeDirectory(volume: string, project: string, path: string, actor: string): Promise<BegunDirectory> {
    const { store, jobs } = this.#tools;
    return store.write((tx) => {
      this.#volumes.usableShare(volume);
      this.#project(tx, volume, project);
      const directory = readDirectoryPath('path', path);
      const found = findDirectory(tx, volume, directory);
      if (found?.project !== project) throw fail('nothing_to_delete');
      if (found.state === 'removing' && found.job !== null) return { path: directory, job: found.job };
      const args = { volume, project, path: directory, isAdded: false, actor };
      const job = jobs.enqueue(tx, SET_PROJECT, subjectOf(volume), args);
      changeDirectory(tx, { volume, path: directory, state: 'removing', job });
      return { path: directory, job };
    });
  }

  /** Begins to delete it; the number of the job. */
  delete(volume: string, project: string, isForced: boolean, actor: string): Promise<number> {
    const { store, jobs, clock } = this.#tools;
    return store.write((tx) => {
      this.#volumes.usableShare(volume);
      const found = findProject(tx, volume, project);
      if (!found) throw fail('project_not_found', { id: project });
      if (found.deleteJob !== null) return found.deleteJob;
      const count = listDirectories(tx, volume, project).length;
      if (count > 0 && !isForced) {
        throw fail('quota_project_in_use', { project, count });
      }
      const job = jobs.enqueue(tx, DELETE_PROJECT, subjectOf(volume), { volume, project, actor });
      markProjectDeleted(tx, found, job, clock.now());
      return job;
    });
  }

  #project(tx: Tx, volume: string, name: string): QuotaProject {
    const project = findProject(tx, volume, name);
    if (!project || project.deleteJob !== null) throw fail('project_not_found', { id: name });
    return project;
  }

  #record(tx: Tx, { displayName, name, volume }: QuotaProject, what: string, actor: string): void {
    const title = `Quota project ${displayName} (${name}) of share ${volume} ${what}.`;
    this.#tools.events.record(tx, { title, subject: `volume:${volume}`, actor });
  }
}

/** Of one share one after the other: what is added and taken out again ends as it should. */
function subjectOf(volume: string): string {
  return `quota-projects:${volume}`;
}

function refuseNew(tx: Tx, volume: string, path: string, other: QuotaDirectory | undefined): void {
  if (countDirectories(tx, volume) >= DIRECTORIES_MAX) {
    throw fail('quota_directories_limit', { share: volume, max: DIRECTORIES_MAX });
  }
  if (!other) return;
  const { project } = other;
  throw other.path === path
    ? fail('directory_in_project', { path, project })
    : fail('directory_overlaps', { path, other: other.path, project });
}

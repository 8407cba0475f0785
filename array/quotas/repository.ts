import { plain, sqlPage, Table, type Db, type Page, type Tx } from '@granary/kernel';
import type { QuotaDirectory, QuotaProject } from './project.ts';

const projects = new Table<QuotaProject>('quota_projects', {
  volume: plain('volume'),
  name: plain('name'),
  number: plain('number'),
  displayName: plain('display_name'),
  deleteJob: plain('delete_job'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});
const PROJECTS = `SELECT ${projects.fields()} FROM quota_projects`;

const directories = new Table<QuotaDirectory>('quota_directories', {
  volume: plain('volume'),
  path: plain('path'),
  project: plain('project'),
  state: plain('state'),
  job: plain('job'),
});
const DIRECTORIES = `SELECT ${directories.fields()} FROM quota_directories`;

export function insertProject(tx: Tx, project: QuotaProject): void {
  projects.insert(tx, project);
}

export function markProjectDeleted(tx: Tx, { volume, name }: QuotaProject, job: number, now: number): void {
  projects.update(tx, { volume, name }, { deleteJob: job, modifiedAt: now });
}

export function touchProject(tx: Tx, volume: string, name: string, now: number): void {
  projects.update(tx, { volume, name }, { modifiedAt: now });
}

export function removeProject(tx: Tx, volume: string, name: string): void {
  tx.run('DELETE FROM quota_projects WHERE volume = :volume AND name = :name', { volume, name });
}

export function findProject(db: Db, volume: string, name: string): QuotaProject | undefined {
  return projects.get(db, `${PROJECTS} WHERE volume = :volume AND name = :name`, { volume, name });
}

export function isProjectNameTaken(db: Db, volume: string, displayName: string): boolean {
  const sql = 'SELECT 1 FROM quota_projects WHERE volume = :volume AND display_name = :displayName';
  return db.get(sql, { volume, displayName }) !== undefined;
}

export function listProjects(db: Db, volume: string, page: Page): QuotaProject[] {
  const sql = `${PROJECTS} WHERE volume = :volume ORDER BY name LIMIT :limit OFFSET :start`;
  return projects.all(db, sql, { volume, ...sqlPage(page) });
}

export function countProjects(db: Db, volume: string): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM quota_projects WHERE volume = :volume', { volume })?.n ?? 0;
}

/** Numbers and names of all of a share that are not being deleted. */
export function listProjectNames(db: Db, volume: string): { readonly name: string; readonly number: number }[] {
  const sql = 'SELECT display_name AS name, number FROM quota_projects WHERE volume = :volume AND delete_job IS NULL';
  return db.all(sql, { volume });
}

export function insertDirectory(tx: Tx, directory: QuotaDirectory): void {
  directories.insert(tx, directory);
}

type DirectoryChange = Pick<QuotaDirectory, 'state' | 'job'> & { readonly volume: string; readonly path: string };

export function changeDirectory(tx: Tx, { volume, path, state, job }: DirectoryChange): void {
  directories.update(tx, { volume, path }, { state, job });
}

export function removeDirectory(tx: Tx, volume: string, path: string): void {
  tx.run('DELETE FROM quota_directories WHERE volume = :volume AND path = :path', { volume, path });
}

export function findDirectory(db: Db, volume: string, path: string): QuotaDirectory | undefined {
  return directories.get(db, `${DIRECTORIES} WHERE volume = :volume AND path = :path`, { volume, path });
}

export function countDirectories(db: Db, volume: string): number {
  const sql = 'SELECT count(*) AS n FROM quota_directories WHERE volume = :volume';
  return db.get<{ n: number }>(sql, { volume })?.n ?? 0;
}

/** Of one project. */
export function listDirectories(db: Db, volume: string, project: string): QuotaDirectory[] {
  const sql = `${DIRECTORIES} WHERE volume = :volume AND project = :project ORDER BY path`;
  return directories.all(db, sql, { volume, project });
}

/** One that holds the path, is held by it, or is the same. */
export function findOverlapping(db: Db, volume: string, path: string): QuotaDirectory | undefined {
  const below = path === '/' ? '/' : `${path}/`;
  return directories.get(
    db,
    `${DIRECTORIES} WHERE volume = :volume AND (path = :path OR path = '/'
       OR substr(path, 1, length(:below)) = :below OR substr(:path, 1, length(path) + 1) = path || '/')
     ORDER BY path LIMIT 1`,
    { volume, path, below },
  );
}

/** A clone has the files of its source, and so their projects. */
export function copyProjects(tx: Tx, from: string, to: string): void {
  tx.run(
    `INSERT INTO quota_projects (volume, name, number, display_name, delete_job, created_at, modified_at)
     SELECT :to, name, number, display_name, NULL, created_at, modified_at FROM quota_projects
     WHERE volume = :from AND delete_job IS NULL`,
    { from, to },
  );
  tx.run(
    `INSERT INTO quota_directories (volume, path, project, state, job)
     SELECT :to, d.path, d.project, 'ready', NULL FROM quota_directories AS d
     JOIN quota_projects AS p ON p.volume = :to AND p.name = d.project
     WHERE d.volume = :from AND d.state = 'ready'`,
    { from, to },
  );
}

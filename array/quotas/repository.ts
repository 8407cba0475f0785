import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

/** A quota project as it is on record. */
export interface ProjectRow {
  readonly volume: string;
  readonly name: string;
  /** By which files and quotas know it. */
  readonly number: number;
  readonly display_name: string;
  readonly delete_job: number | null;
  readonly created_at: number;
  readonly modified_at: number;
}

export interface DirectoryRow {
  readonly volume: string;
  readonly path: string;
  readonly project: string;
  readonly state: 'adding' | 'ready' | 'removing';
  readonly job: number | null;
}

export function insertProject(tx: Tx, row: ProjectRow): void {
  tx.run(
    `INSERT INTO quota_projects (volume, name, number, display_name, delete_job, created_at, modified_at)
     VALUES (:volume, :name, :number, :display_name, :delete_job, :created_at, :modified_at)`,
    { ...row },
  );
}

export function markProjectDeleted(tx: Tx, { volume, name }: ProjectRow, job: number, now: number): void {
  const sql = `UPDATE quota_projects SET delete_job = :job, modified_at = :now
    WHERE volume = :volume AND name = :name`;
  tx.run(sql, { volume, name, job, now });
}

export function touchProject(tx: Tx, volume: string, name: string, now: number): void {
  const sql = 'UPDATE quota_projects SET modified_at = :now WHERE volume = :volume AND name = :name';
  tx.run(sql, { volume, name, now });
}

export function removeProject(tx: Tx, volume: string, name: string): void {
  tx.run('DELETE FROM quota_projects WHERE volume = :volume AND name = :name', { volume, name });
}

export function findProject(db: Db, volume: string, name: string): ProjectRow | undefined {
  const sql = 'SELECT * FROM quota_projects WHERE volume = :volume AND name = :name';
  return db.get<ProjectRow>(sql, { volume, name });
}

export function isProjectNameTaken(db: Db, volume: string, displayName: string): boolean {
  const sql = 'SELECT 1 FROM quota_projects WHERE volume = :volume AND display_name = :displayName';
  return db.get(sql, { volume, displayName }) !== undefined;
}

export function listProjects(db: Db, volume: string, page: Page): ProjectRow[] {
  const sql = 'SELECT * FROM quota_projects WHERE volume = :volume ORDER BY name LIMIT :limit OFFSET :start';
  return db.all<ProjectRow>(sql, { volume, ...sqlPage(page) });
}

export function countProjects(db: Db, volume: string): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM quota_projects WHERE volume = :volume', { volume })?.n ?? 0;
}

/** Numbers and names of all of a share that are not being deleted. */
export function listProjectNames(db: Db, volume: string): { readonly name: string; readonly number: number }[] {
  const sql = 'SELECT display_name AS name, number FROM quota_projects WHERE volume = :volume AND delete_job IS NULL';
  return db.all(sql, { volume });
}

export function insertDirectory(tx: Tx, row: DirectoryRow): void {
  tx.run(
    `INSERT INTO quota_directories (volume, path, project, state, job)
     VALUES (:volume, :path, :project, :state, :job)`,
    { ...row },
  );
}

export function changeDirectory(tx: Tx, { volume, path, state, job }: Omit<DirectoryRow, 'project'>): void {
  const sql = 'UPDATE quota_directories SET state = :state, job = :job WHERE volume = :volume AND path = :path';
  tx.run(sql, { volume, path, state, job });
}

export function removeDirectory(tx: Tx, volume: string, path: string): void {
  tx.run('DELETE FROM quota_directories WHERE volume = :volume AND path = :path', { volume, path });
}

export function findDirectory(db: Db, volume: string, path: string): DirectoryRow | undefined {
  const sql = 'SELECT * FROM quota_directories WHERE volume = :volume AND path = :path';
  return db.get<DirectoryRow>(sql, { volume, path });
}

export function countDirectories(db: Db, volume: string): number {
  const sql = 'SELECT count(*) AS n FROM quota_directories WHERE volume = :volume';
  return db.get<{ n: number }>(sql, { volume })?.n ?? 0;
}

/** Of one project. */
export function listDirectories(db: Db, volume: string, project: string): DirectoryRow[] {
  const sql = 'SELECT * FROM quota_directories WHERE volume = :volume AND project = :project ORDER BY path';
  return db.all<DirectoryRow>(sql, { volume, project });
}

/** One that holds the path, is held by it, or is the same. */
export function findOverlapping(db: Db, volume: string, path: string): DirectoryRow | undefined {
  const below = path === '/' ? '/' : `${path}/`;
  return db.get<DirectoryRow>(
    `SELECT * FROM quota_directories WHERE volume = :volume AND (path = :path OR path = '/'
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

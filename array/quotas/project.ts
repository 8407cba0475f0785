/** Directories of a share that have a quota together. */
export interface QuotaProject {
  readonly volume: string;
  readonly name: string;
  /** By which files and quotas know it. */
  readonly number: number;
  readonly displayName: string;
  /** While it is being deleted. */
  readonly deleteJob: number | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export interface QuotaDirectory {
  readonly volume: string;
  readonly path: string;
  readonly project: string;
  readonly state: 'adding' | 'ready' | 'removing';
  /** That adds or removes it. */
  readonly job: number | null;
}

import type { Name } from '../sequences/name.ts';

/** A file that is or was brought back from a snapshot. */
export interface FileRestore {
  readonly name: Name<'restore'>;
  readonly volume: string;
  readonly snapshot: string;
  readonly path: string;
  readonly toPath: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly problem: string | null;
  readonly job: number;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

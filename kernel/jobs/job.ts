/** A job as it is stored. */
export interface Job {
  readonly id: number;
  readonly kind: string;
  readonly subject: string;
  /** JSON. */
  readonly arguments: string;
  readonly state: 'queued' | 'running' | 'done' | 'failed';
  readonly ticket: string | null;
  /** JSON. */
  readonly checkpoint: string | null;
  readonly progress: number;
  readonly note: string;
  readonly attempts: number;
  /** Consecutive runs that ended in an unexpected error. */
  readonly surprises: number;
  readonly error: string | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

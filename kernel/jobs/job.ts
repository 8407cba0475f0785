/** Long work, as it is kept. */
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
  /** Runs in a row that ended in an error nobody foresaw. */
  readonly surprises: number;
  readonly error: string | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

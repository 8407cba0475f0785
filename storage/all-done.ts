import type { Done } from './units.ts';

/**
 * Waits for all promises, also after a failure, because the others still use the caller's buffers; then throws the
 * first error.
 */
export async function allDone(running: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(running);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** The parts of one request: done when all are done, and rejected only when none is running. */
export class PendingParts {
  readonly #running: Promise<void>[] = [];

  start(work: () => Done): void {
    try {
      const done = work();
      if (done) this.#running.push(done);
    } catch (error) {
      this.#running.push(Promise.reject(error instanceof Error ? error : new Error(String(error))));
    }
  }

  done(): Done {
    return this.#running.length === 0 ? undefined : allDone(this.#running);
  }
}

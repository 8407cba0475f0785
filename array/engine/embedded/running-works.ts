import { EngineError, isEngineError } from '../errors.ts';
import { translateErrors } from './refused.ts';

/** Long-running work: it ends when its engine closes, and its caller starts it again at the next one. */
export class RunningWorks {
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  async run<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const closing = this.#closing.signal;
    const running = translateErrors(() => work(signal ? AbortSignal.any([signal, closing]) : closing));
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      if (!closing.aborted || !isEngineError(error, 'cancelled')) throw error;
      throw new EngineError('interrupted', 'The controller stopped; ask again.');
    } finally {
      this.#running.delete(running);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }
}

import { EngineError, isEngineError } from '../errors.ts';
import { translateErrors } from './refused.ts';

/** Work that takes long: it ends when its engine closes, and whoever asked for it asks the next one. */
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

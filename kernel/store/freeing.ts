import { AsyncLocalStorage } from 'node:async_hooks';

const context = new AsyncLocalStorage<boolean>();

/**
 * Declares whether the writes of `work` free space: deletions, and what they need. Only these may use the reserve of a
 * full disk. It applies to everything that `work` awaits, so use it around single operations, not around the start of
 * services.
 */
export function runFreeing<T>(frees: boolean, work: () => T): T {
  return context.run(frees, work);
}

export function isFreeing(): boolean {
  return context.getStore() === true;
}

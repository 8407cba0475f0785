import { AsyncLocalStorage } from 'node:async_hooks';

const context = new AsyncLocalStorage<boolean>();

/**
 * Whether what `work` writes makes room: deletions, and what they need. Only that may use the reserve of a full disk. It
 * holds for everything that `work` waits for, so say it around single pieces of work and not around what starts services.
 */
export function runFreeing<T>(frees: boolean, work: () => T): T {
  return context.run(frees, work);
}

export function isFreeing(): boolean {
  return context.getStore() === true;
}

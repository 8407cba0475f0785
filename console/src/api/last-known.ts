import { ConnectionError } from '@granary/client/errors';

/**
 * What is asked; where nobody answers, what was known before: the page says that there is no connection, and what stands on
 * it, a form that is being filled in among it, stays. Without anything known the failure is shown.
 */
export async function orLastKnown<T>(ask: () => Promise<T>, known: () => T | undefined): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const last = error instanceof ConnectionError ? known() : undefined;
    if (last === undefined) throw error;
    return last;
  }
}

import { ConnectionError } from '@granary/client/errors';

/** As the portal says that an array is not up or not reached, and as proxies say it of what is behind them. */
const AWAY: ReadonlySet<unknown> = new Set([409, 502, 503, 504]);

/** Whether a reading failed because who was asked is away for the moment: nothing was said about what was asked for. */
export function isAway(error: unknown): boolean {
  // Fetch says by a TypeError that nobody answered.
  if (error instanceof ConnectionError || error instanceof TypeError) return true;
  return error instanceof Error && 'status' in error && AWAY.has(error.status);
}

interface Outcome {
  readonly error: unknown;
  readonly data?: unknown;
}

/** What a page shows in place of what it read before: nothing while who was asked is away. */
export function failureOf({ error, data }: Outcome): unknown {
  return data !== undefined && isAway(error) ? null : error;
}

/**
 * What is asked; where nobody answers, what was known before: the page says that there is no connection, and what stands on
 * it, a form that is being filled in among it, stays. Without anything known the failure is shown.
 */
export async function orLastKnown<T>(ask: () => Promise<T>, known: () => T | undefined): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const last = isAway(error) ? known() : undefined;
    if (last === undefined) throw error;
    return last;
  }
}

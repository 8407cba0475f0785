import { ApiError } from '@granary/client/errors';

const AGAIN_MS = 2_000;
const INVALID_CREDENTIALS = 5;

interface Waiting {
  /** Called with whether the service could not be asked. */
  readonly tell: (isUnanswered: boolean) => void;
  readonly pause?: (ms: number) => Promise<unknown>;
}

/**
 * What the service answers. One that does not answer, as while it restarts, has not said that nobody is signed in: it is
 * asked until it does.
 */
export async function untilAnswered<T>(ask: () => Promise<T>, { tell, pause = wait }: Waiting): Promise<T> {
  for (;;) {
    try {
      const answer = await ask();
      tell(false);
      return answer;
    } catch (error) {
      if (isOver(error)) throw error;
      tell(true);
      await pause(AGAIN_MS);
    }
  }
}

/** Whether the service says that there is no session: the portal by HTTP status, an array by a code. */
export function isOver(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === INVALID_CREDENTIALS);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

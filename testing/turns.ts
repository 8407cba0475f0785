import { setImmediate as turn } from 'node:timers/promises';

const TURNS = 100;

/**
 * Lets the event loop go round many times: whatever has arrived, or arrives from this process, is handled. It takes the
 * place of a pause before a test asserts that nothing happened, and does not depend on how fast the machine is.
 */
export async function turns(count = TURNS): Promise<void> {
  for (let done = 0; done < count; done += 1) await turn();
}

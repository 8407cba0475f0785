import { printToStderr, type Terminal } from '../terminal.ts';

/** The folder of the web console, built when it has changed. A service without one still serves its API. */
export async function builtConsoleOrNone(terminal: Terminal): Promise<string | undefined> {
  try {
    const { builtConsole } = await import('@granary/console');
    return await builtConsole();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    printToStderr(terminal, `Warning: the web console could not be built and is not served. ${reason}`);
    return undefined;
  }
}

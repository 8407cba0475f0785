import { flushCompileCache } from 'node:module';
import type { Log } from '@granary/kernel';
import { exitCodes } from '../exit.ts';
import { outliveReaders, printToStderr, type Terminal } from '../terminal.ts';
import { serveControl, type Copies } from './control.ts';
import { makeFolder } from './folder.ts';
import { openLogs, type LogFor } from './log-file.ts';
import { startRefusal, type StartFacts } from './refusals.ts';
import { watchForEnd } from './signals.ts';

/** A service that runs in this process. */
export interface Part {
  readonly name: string;
  /** Makes a consistent copy of its database. */
  copyTo?(target: string): Promise<void>;
  stop(): Promise<void>;
}

interface Run extends StartFacts {
  readonly terminal: Terminal;
  /** Starts the parts and hands each over as soon as it runs. */
  start(logFor: LogFor, started: (part: Part) => void): Promise<void>;
}

/** Runs services until a signal asks for the end; they stop in the reverse of the order they started in. */
export async function runServices(run: Run): Promise<void> {
  const { terminal } = run;
  outliveReaders(terminal);
  const parts: Part[] = [];
  const logFor = await openLogsOrRefuse(run);
  const log = logFor('granary');
  const end = watchForEnd(() => process.exit(exitCodes.failed));
  const die = (error: Error) => dieOf(error, log, run);
  process.on('uncaughtException', die);
  let endControl = () => Promise.resolve();
  try {
    await run.start(logFor, (part) => parts.unshift(part));
    endControl = await serveControl(run.folder, () => copiesOf(parts), log);
    flushCompileCache();
    await end.asked;
    printToStderr(terminal, 'Stopping; again to force.');
  } catch (error) {
    log.error({ error }, 'the start failed');
    throw startRefusal(error, run);
  } finally {
    await endControl();
    await stopAll(parts, log);
    end.release();
    process.off('uncaughtException', die);
  }
}

function copiesOf(parts: readonly Part[]): Copies {
  const copies = new Map<string, (target: string) => Promise<void>>();
  for (const part of parts)
    if (part.copyTo) copies.set(part.name, (target) => part.copyTo?.(target) ?? Promise.resolve());
  return copies;
}

async function openLogsOrRefuse(run: Run): Promise<LogFor> {
  try {
    makeFolder(run.folder);
    return await openLogs(run.log);
  } catch (error) {
    throw startRefusal(error, run);
  }
}

/** A part that does not stop as it should holds up none of the others. */
async function stopAll(parts: readonly Part[], log: Log): Promise<void> {
  for (const part of parts) {
    try {
      await part.stop();
    } catch (error) {
      log.error({ error, part: part.name }, 'a part did not stop cleanly');
    }
  }
}

/** A bug: the state on disk is sound, the state in memory may not be. */
function dieOf(error: Error, log: Log, { terminal, log: file }: Run): never {
  log.fatal({ error }, 'unexpected error');
  printToStderr(terminal, `granary: Something unexpected happened: ${error.message} (more in ${file}).`);
  process.exit(exitCodes.failed);
}

import { chmodSync, closeSync, fsyncSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** The thread of `finishCopy`: posts null when the copy is complete and durable, else the problem. */
const path = workerData as string;

function problemOf(): string | null {
  const database = new DatabaseSync(path);
  try {
    // The copy is marked as having a log, as the original; from here on it is one file.
    database.exec('PRAGMA journal_mode = DELETE');
    const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
    return found === 'ok' ? null : found;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    database.close();
  }
}

const problem = problemOf();
if (problem === null) {
  chmodSync(path, 0o600);
  const fd = openSync(path, 'r+');
  fsyncSync(fd);
  closeSync(fd);
}
parentPort?.postMessage(problem);

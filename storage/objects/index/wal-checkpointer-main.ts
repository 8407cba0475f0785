import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** The thread of `WalCheckpointer`: one checkpoint for each message, answered with the pages that the log had. */
const sqlite = new DatabaseSync(workerData as string);
sqlite.exec('PRAGMA synchronous = FULL');
sqlite.exec('PRAGMA cache_size = -256');
const checkpoint = sqlite.prepare('PRAGMA wal_checkpoint(PASSIVE)');

parentPort?.on('message', () => {
  const { log } = checkpoint.get() as { readonly log: number };
  parentPort?.postMessage(log);
});

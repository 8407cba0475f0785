import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Checkpoint } from './log-keeper.ts';

/** The thread behind `LogKeeper`: one checkpoint for each message. */
const sqlite = new DatabaseSync(workerData as string);
sqlite.exec('PRAGMA synchronous = FULL');
sqlite.exec('PRAGMA cache_size = -256');
const checkpoint = sqlite.prepare('PRAGMA wal_checkpoint(PASSIVE)');

parentPort?.on('message', () => {
  const { log, checkpointed } = checkpoint.get() as { readonly log: number; readonly checkpointed: number };
  parentPort?.postMessage({ pages: log, done: checkpointed } satisfies Checkpoint);
});

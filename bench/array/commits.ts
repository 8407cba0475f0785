import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const COMMITS = 500;

/** Durable commits a second of SQLite alone: one row each, `synchronous=FULL`, one after the other. */
export function bareCommitsPerSecond(folder: string): number {
  const database = new DatabaseSync(join(folder, `bare-${performance.now()}.db`));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA locking_mode = EXCLUSIVE');
  database.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
  const insert = database.prepare('INSERT INTO rows (text) VALUES (?)');
  const text = 'x'.repeat(300);
  const start = performance.now();
  for (let count = 0; count < COMMITS; count += 1) insert.run(text);
  const seconds = (performance.now() - start) / 1000;
  database.close();
  return COMMITS / seconds;
}

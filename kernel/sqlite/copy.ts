import fs from 'node:fs';
import { backup, type DatabaseSync } from 'node:sqlite';

/** Pages copied in one step: the owner's thread waits that long. */
const COPY_PAGES = 64;
/** A database with continuous writes is copied in one step after this many attempts. */
const ATTEMPTS_IN_STEPS = 5;
const ATTEMPTS_MAX = 50;
const ALL_PAGES = 2 ** 30;

/** A consistent copy, made off this thread while the database is in use. */
export async function copyDatabase(sqlite: DatabaseSync, target: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const rate = attempt > ATTEMPTS_IN_STEPS ? ALL_PAGES : COPY_PAGES;
      await backup(sqlite, target, { rate });
      return;
    } catch (error) {
      // A step between the statements of a transaction is refused, and Node reports that with error code 0.
      if ((error as { errcode?: number }).errcode !== 0 || attempt >= ATTEMPTS_MAX) throw error;
      fs.rmSync(target, { force: true });
    }
  }
}

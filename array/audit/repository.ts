import type { Db } from '@granary/kernel';

/** Of a share that is not deleted. */
export function displayNameOfShare(db: Db, name: string): string | undefined {
  return db.get<{ display_name: string }>('SELECT display_name FROM volumes WHERE name = :name', { name })
    ?.display_name;
}

import type { Db } from '@granary/kernel';

const NAME_OF = {
  pools: 'SELECT display_name FROM pools WHERE name = :name',
  servers: 'SELECT display_name FROM servers WHERE name = :name',
  volumes: 'SELECT display_name FROM volumes WHERE name = :name',
} as const;

export function displayNameOf(db: Db, table: keyof typeof NAME_OF, name: string): string | undefined {
  return db.get<{ display_name: string }>(NAME_OF[table], { name })?.display_name;
}

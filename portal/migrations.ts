import { readMigrations } from '@granary/kernel';

export const migrations = readMigrations('portal', new URL('migrations/', import.meta.url));

import { readMigrations } from '@granary/kernel';

export const migrations = readMigrations('array', new URL('./migrations/', import.meta.url));

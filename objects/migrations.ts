import { readMigrations } from '@granary/kernel';

export const migrations = readMigrations('objects', new URL('./migrations/', import.meta.url));

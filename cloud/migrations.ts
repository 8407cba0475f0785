import { readMigrations } from '@granary/kernel';

export const migrations = readMigrations('cloud', new URL('./migrations/', import.meta.url));

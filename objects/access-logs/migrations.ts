import { readMigrations } from '@granary/kernel';

export const accessLogMigrations = readMigrations('access-log', new URL('./migrations/', import.meta.url));

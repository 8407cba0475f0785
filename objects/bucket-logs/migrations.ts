import { readMigrations } from '@granary/kernel';

export const bucketLogMigrations = readMigrations('bucket-log', new URL('./migrations/', import.meta.url));

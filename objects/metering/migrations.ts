import { readMigrations } from '@granary/kernel';

export const meteringMigrations = readMigrations('metering', new URL('./migrations/', import.meta.url));
